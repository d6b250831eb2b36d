// What the practice data is made of. Invented makers; names in several scripts, and signs that CSV must quote.

export const CATEGORIES = ['Kitchen', 'Lighting', 'Workshop', 'Garden', 'Stationery', 'Textiles', 'Café'] as const;

export const MATERIALS = [
  'Walnut',
  'Linen',
  'Brass',
  'Stoneware',
  'Beech',
  'Enamel',
  'Cork',
  'Felt',
  'Slate',
  'Hand-blown Glass',
  'Käfer-Green',
  'Crème',
] as const;

export const THINGS: Readonly<Record<(typeof CATEGORIES)[number], readonly string[]>> = {
  Kitchen: ['Bread Board', 'Spice Mill', '10" Skillet', 'Butter Dish', 'Salt Cellar', 'Tea Towel'],
  Lighting: ['Reading Lamp', 'Lantern', 'Pendant Light', 'Candle Holder', 'Night Light'],
  Workshop: ['Marking Gauge', 'Tool Roll', 'Try Square', 'Mallet, small', 'Mallet, large', 'Bench Brush'],
  Garden: ['Watering Can', 'Seed Box', 'Dibber', 'Bird Feeder', 'Plant Markers (×12)'],
  Stationery: ['Notebook A5', 'Pencil Case', 'Letter Opener', 'Desk Tray', 'Washi Tape 和紙'],
  Textiles: ['Throw', 'Apron', 'Cushion Cover', 'Table Runner', 'Smørrebrød Cloth'],
  Café: ['Pour-over Stand', 'Espresso Cup', 'Crème brûlée Torch', 'Bean Scoop', 'Teapot 茶'],
};

export const COLOURS = ['Moss', 'Ink', 'Chalk', 'Rust', 'Saffron', 'Fjord', 'Ochre', 'Plum'] as const;

export const MAKERS = [
  { name: 'Åkerlund & Daughters', country: 'SE' },
  { name: 'Atelier Éclair', country: 'FR' },
  { name: 'Smith, Jones & Sons', country: 'GB' },
  { name: 'Pracownia Żuraw', country: 'PL' },
  { name: '金継ぎ工房', country: 'JP' },
  { name: 'O\'Hara "Oak" Works', country: 'IE' },
  { name: 'Taller Ñandú', country: 'AR' },
  { name: 'Мастерня Дніпро', country: 'UA' },
] as const;

export const TAGS = [
  'handmade',
  'gift',
  'repairable',
  'new',
  'bestseller',
  'limited',
  'recycled',
  'dishwasher-safe',
] as const;

export const WAREHOUSES = ['Rotterdam', 'Gdańsk', 'Porto'] as const;

export const CURRENCIES = ['EUR', 'EUR', 'EUR', 'GBP', 'SEK'] as const;

export const SENTENCES = [
  'Made to be used every day, and to look better for it.',
  'Finished with oil and wax; re-oil once a year.',
  'Comes in a plain box, without plastic.',
  'Our testers called it "the last one you will buy".',
  'Sizes vary a little, as each piece is made by hand.',
  'Not for the dishwasher, the microwave, or the impatient.',
  'Pairs well with the rest of the series.',
  'Spare parts are kept for at least ten years.',
] as const;

export const AUTHORS = [
  'Zoë',
  'Jürgen',
  'María José',
  'Łukasz',
  'さくら',
  'Oluwaseun',
  'Ólafur',
  'D\'Angelo, "Dee"',
  'Priya',
  'Nguyễn',
] as const;

export const REVIEW_TITLES = [
  'Exactly what I wanted',
  'Good, not great',
  'Better than the picture',
  'Arrived late, worth it',
  'A gift that stayed',
  '5 stars ⭐',
] as const;

export const REVIEW_TEXTS = [
  'Two months in daily use, no complaints.',
  'Solid.\nHeavier than I thought, which I like.',
  'The colour is off: more "mustard" than saffron.',
  'Bought one, then two more; the family kept stealing it.',
  'Fine craftsmanship, clumsy packaging; still, I would buy it again.',
  'Très joli, un peu cher.',
] as const;
