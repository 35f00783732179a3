import fc from 'fast-check';

/** Pieces that fields are made of, and what breaks them: separators, marks, Arabic, controls, halves of surrogate pairs. */
const PIECES = [
  ...['0', '1', '5', '50', '123', '4567', '971', '00', '٥', '۷', '.', ',', "'", '٫', '٬', '-', '+', '(', ')', '/', ' '],
  ...[
    'AED',
    '$',
    'usd',
    'Dhs.',
    'د.إ',
    'Dubai',
    'Sharj',
    'ha',
    'Al Ain',
    'AE-',
    'عجمان',
    'أبو',
    ' ظبي',
    'x',
    'ext',
    '@',
  ],
  ...[
    '\u0000',
    '\u0007',
    '\r\n',
    '\r',
    '\n',
    '\t',
    '\u0085',
    '\u202e',
    '\u200f',
    '\ud83d',
    '\ude00',
    '😀',
    '\ufeff',
    '\u00a0',
  ],
];

const anyCodeUnits = fc.array(fc.integer({ min: 0, max: 0xffff })).map((units) => String.fromCharCode(...units));
const text = fc.oneof(fc.string({ unit: fc.constantFrom(...PIECES) }), anyCodeUnits, fc.string({ unit: 'grapheme' }));
const longText = fc.tuple(text, fc.integer({ min: 1, max: 300 })).map(([piece, times]) => piece.repeat(times));
const number = fc.oneof(
  fc.double(),
  fc.integer(),
  fc.constantFrom(
    0,
    -0,
    Number.POSITIVE_INFINITY,
    Number.NEGATIVE_INFINITY,
    1e21,
    5e-324,
    2 ** 53,
    501234567,
    971501234567,
  ),
);
const scalar = fc.oneof({ weight: 4, arbitrary: text }, longText, number, fc.boolean(), fc.constant(null));
const tree = fc.letrec((tie) => ({
  value: fc.oneof(
    { maxDepth: 4 },
    scalar,
    fc.array(tie('value'), { maxLength: 4 }),
    fc.dictionary(fc.oneof(text, fc.constant('__proto__')), tie('value'), { maxKeys: 4, noNullPrototype: true }),
  ),
})).value;
const field = fc.oneof({ weight: 3, arbitrary: scalar }, tree);

const digits = fc.string({ unit: fc.constantFrom(...'0123456789'), minLength: 4, maxLength: 17 });
const phone = fc.tuple(fc.constantFrom('', '+', '0', '00', '971', '+9710'), digits).map((parts) => parts.join(''));
const amount = fc.string({
  unit: fc.constantFrom(...'0123456789.,- ', '000', "'", 'AED', 'KWD ', '$', 'Dhs.', '/-'),
  maxLength: 20,
});

const item = fc.oneof(
  { weight: 4, arbitrary: fc.record({ name: field, quantity: field, sku: field }, { requiredKeys: [] }) },
  field,
);
const customer = fc.oneof(
  {
    weight: 3,
    arbitrary: fc.record({ name: field, phone: fc.oneof(field, phone), email: field, id: field }, { requiredKeys: [] }),
  },
  field,
);

/** Orders with the right members and any sort of value in them. The id is valid, as `validateOrder` sees to that. */
export const anyPayload = fc.record(
  {
    source_order_id: fc.string({ minLength: 1, maxLength: 255 }).filter((id) => id.trim() !== ''),
    order_number: field,
    customer,
    address: field,
    emirate: field,
    area: field,
    items: fc.oneof({ weight: 3, arbitrary: fc.array(item) }, field),
    total: fc.oneof(field, amount),
    currency: fc.oneof(field, fc.constantFrom('JPY', 'kwd', 'Dhs')),
    delivery_instructions: field,
  },
  { requiredKeys: ['source_order_id'] },
);

/** Any JSON object at all, as JSON.parse makes it: own members called `__proto__` or `constructor` among them. */
export const anyJsonObject = fc
  .dictionary(fc.oneof(text, fc.constantFrom('__proto__', 'constructor', 'items', 'customer', 'total')), tree, {
    noNullPrototype: true,
  })
  .map((object) => object as Record<string, unknown>);
