import fc from 'fast-check';

const NASTY_TEXTS = [
  '',
  ' ',
  '"',
  '""',
  ',',
  ';',
  '\n',
  '\r\n',
  '\r',
  '\t',
  '\\',
  '\\"',
  '\u0000',
  '\u2028',
  '\ud800',
  '\udc00x',
  '😀',
  'null',
  'true',
  'NULL',
  '=1+1',
  '-5',
  '007',
  '1e400',
  '2026-01-02T03:04:05Z',
  "it's",
  'a"b,c\nd',
  '\ufeff',
  '日本語',
];

const shortText = fc.oneof(
  fc.string({ unit: 'grapheme' }),
  fc.string({ unit: 'binary' }),
  fc.constantFrom(...NASTY_TEXTS),
  fc.array(fc.constantFrom(...NASTY_TEXTS), { maxLength: 4 }).map((parts) => parts.join('')),
);

// Long ones are scanned in another way.
const longText = fc
  .tuple(fc.integer({ min: 25, max: 80 }), shortText, fc.integer({ min: 0, max: 50 }), shortText)
  .map(([before, first, between, second]) => `${'x'.repeat(before)}${first}${'y'.repeat(between)}${second}`);

const text = fc.oneof({ weight: 4, arbitrary: shortText }, { weight: 1, arbitrary: longText });

const key = fc.oneof(
  { weight: 5, arbitrary: fc.constantFrom('id', 'name', 'a', 'b', 'c') },
  { weight: 2, arbitrary: fc.constantFrom('a.b', 'a.b.c', '', '.', 'a\\', '\\.', 'x,y', 'q"q', 'A', 'value', '_rest') },
  { weight: 1, arbitrary: fc.constantFrom('__proto__', 'constructor', 'toString', 'a_2', 'a.b_2', 'l\nn', '\u0000') },
  // JavaScript puts whole numbers first among an object's keys, whatever their order in the text.
  { weight: 1, arbitrary: text.map((name) => (/^\d+$/.test(name) ? `n${name}` : name)) },
);

/** A JSON number as text: what no double holds among them. */
export const numberText = fc.oneof(
  fc.integer().map(String),
  fc.double({ noNaN: true, noDefaultInfinity: true }).map((value) => (Object.is(value, -0) ? '-0' : String(value))),
  fc.bigInt({ min: -(2n ** 70n), max: 2n ** 70n }).map(String),
  fc.constantFrom(
    '9223372036854775807',
    '9223372036854775808',
    '-9223372036854775808',
    '9007199254740993',
    '0.30000000000000004',
    '0.1000000000000000055511151231257827',
    '1e400',
    '-1e400',
    '1E5',
    '1.0',
    '1.10',
    '-0',
    '0',
    '123456789012345678901234567890',
  ),
);

/** A JSON value as compact text, as a store keeps it. */
const { value: valueText } = fc.letrec<{ value: string; object: string; array: string }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 4, withCrossShrink: true },
    { weight: 4, arbitrary: text.map((value) => JSON.stringify(value)) },
    { weight: 4, arbitrary: numberText },
    { weight: 2, arbitrary: fc.constantFrom('true', 'false', 'null') },
    { weight: 2, arbitrary: tie('object') },
    { weight: 1, arbitrary: tie('array') },
  ),
  array: fc.array(tie('value'), { maxLength: 3 }).map((items) => `[${items.join(',')}]`),
  object: fc
    .uniqueArray(fc.tuple(key, tie('value')), { maxLength: 5, selector: ([name]) => name })
    .map((members) => `{${members.map(([name, value]) => `${JSON.stringify(name)}:${value}`).join(',')}}`),
}));

const recordText = fc.oneof(
  {
    weight: 20,
    arbitrary: fc
      .uniqueArray(fc.tuple(key, valueText), { maxLength: 6, selector: ([name]) => name })
      .map((members) => `{${members.map(([name, value]) => `${JSON.stringify(name)}:${value}`).join(',')}}`),
  },
  { weight: 1, arbitrary: valueText },
);

/** A dataset: JSON texts of its records, of few shapes and many. */
export const dataset = fc.oneof(
  fc.array(recordText, { maxLength: 8 }),
  fc.tuple(recordText, fc.integer({ min: 1, max: 5 })).map(([json, count]) => Array<string>(count).fill(json)),
);

type Shape = { name: string; members: Shape[] };

const shapes = fc.letrec<{ members: Shape[] }>((tie) => ({
  members: fc.uniqueArray(
    fc.record({ name: key, members: fc.oneof({ maxDepth: 2 }, fc.constant<Shape[]>([]), tie('members')) }),
    { minLength: 1, maxLength: 5, selector: ({ name }) => name },
  ),
})).members;

function filled(members: readonly Shape[]): fc.Arbitrary<string> {
  const texts = members.map(({ name, members: inner }) =>
    fc
      .tuple(fc.nat(9), inner.length > 0 ? filled(inner) : valueText, valueText)
      .map(([chance, usual, odd]) => (chance === 0 ? '' : `${JSON.stringify(name)}:${chance === 1 ? odd : usual}`)),
  );
  return fc.tuple(...texts).map((all) => `{${all.filter((member) => member !== '').join(',')}}`);
}

/** A dataset of one shape, as an API's records are: the same keys in one order, now and then one less or of another kind. */
export const alikeDataset = shapes.chain((members) => fc.array(filled(members), { minLength: 2, maxLength: 12 }));
