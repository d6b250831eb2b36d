/** A record as an API sends it: 1 KB of JSON, nested, with quotes, arrays, nulls and text beyond ASCII. */
export function recordJson(index: number): string {
  const record = {
    id: index,
    sku: `SKU-${index}`,
    title: `Product ${index}, the "best" one`,
    price: { amount: (index * 37) / 100, currency: 'EUR', discount: null },
    available: index % 3 === 0,
    brand: { name: `Brand ${index % 100}`, country: 'DE', site: `https://brand.example.com/${index % 100}` },
    rating: { average: 4.21, count: index % 977 },
    tags: ['outdoor', 'summer', `t${index % 50}`],
    createdAt: '2026-01-01T00:00:00Z',
    updatedAt: '2026-02-01T12:34:56Z',
    image: `https://cdn.example.com/images/${index}.jpg`,
    category: null,
    description: '',
  };
  const rest = 1_024 - JSON.stringify(record).length;
  record.description = 'Lorem ipsum dolor sit amet, consectetur adipiscing elit, sed do eiusmod tempor. '
    .repeat(14)
    .slice(0, rest);
  return JSON.stringify(record);
}
