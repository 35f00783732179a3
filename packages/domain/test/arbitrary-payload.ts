import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import { ofTextFields } from '../src/text-fields.ts';

type Payload = Record<string, unknown>;

/** Parts of field values: digits, separators, words, Arabic, control characters, lone surrogates. */
const DIGITS_AND_SEPARATORS = [
  ...['0', '1', '5', '50', '123', '4567', '971', '00', '٥', '۷', '.', ',', "'", '٫', '٬', '-', '+', '(', ')', '/', ' '],
  ...['E8', 'e+11', ' / ', ' or ', ' - '],
];
const WORDS = [
  ...[
    'AED',
    '$',
    'usd',
    'Dhs.',
    'د.إ',
    'Rs',
    'only',
    'Dubai',
    'Sharj',
    'ha',
    'Al Ain',
    'AE-',
    'UAE',
    'Dibba',
    ' Street',
  ],
  ...['عجمان', 'أبو', ' ظبي', 'x', 'ext', '@', ', '],
];
const BROKEN = [
  ...['\u0000', '\u0007', '\r\n', '\r', '\n', '\t', '\u0085', '\u202e', '\u200f', '\ud83d', '\ude00', '\uffff'],
  ...['😀', '🇦🇪', 'e\u0301', '\u0301', '\u200d', '\ufeff', '\u00a0'],
];
const piece = fc.constantFrom(...DIGITS_AND_SEPARATORS, ...WORDS, ...BROKEN);

const anyCodeUnits = fc.array(fc.integer({ min: 0, max: 0xffff })).map((units) => String.fromCharCode(...units));
const text = fc.oneof(fc.string({ unit: piece }), anyCodeUnits, fc.string({ unit: 'grapheme' }));
const longText = fc.tuple(text, fc.integer({ min: 1, max: 300 })).map(([part, times]) => part.repeat(times));
const LIMITS_OF_NUMBERS = [0, -0, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY, 1e21, 5e-324, 2 ** 53];
const number = fc.oneof(fc.double(), fc.integer(), fc.constantFrom(...LIMITS_OF_NUMBERS, 501234567, 971501234567));
const scalar = fc.oneof({ weight: 4, arbitrary: text }, longText, number, fc.boolean(), fc.constant(null));
const memberName = fc.oneof(text, fc.constantFrom('__proto__', 'constructor', 'a/b', 'a~b', 'x'.repeat(256)));
const tree = fc.letrec((tie) => ({
  value: fc.oneof(
    { maxDepth: 4 },
    scalar,
    fc.array(tie('value'), { maxLength: 4 }),
    fc.dictionary(memberName, tie('value'), { maxKeys: 4, noNullPrototype: true }),
  ),
})).value;
const field = fc.oneof({ weight: 3, arbitrary: scalar }, tree);

const digits = fc.string({ unit: fc.constantFrom(...'0123456789'), minLength: 4, maxLength: 17 });
const phone = fc.tuple(fc.constantFrom('', '+', '0', '00', '971', '+9710'), digits).map((parts) => parts.join(''));
const phones = fc.array(phone, { minLength: 1, maxLength: 9 }).map((several) => several.join(' / '));
const amount = fc.string({
  unit: fc.constantFrom(...'0123456789.,- ', '000', "'", 'AED', 'KWD ', '$', 'Dhs.', '/-', 'Rs '),
  maxLength: 20,
});
/** Names of places, and words around them. */
const PLACE_WORDS =
  'Dubai Sharjah Sharjha Deira Ain Al Dibba Nahda Oman UAE RAK SH OM Road of near Bank دبي شارع 5'.split(' ');
const place = fc.string({ unit: fc.constantFrom(...PLACE_WORDS, ' ', ' ', ' ', ', ', ' - ', '-'), maxLength: 10 });
const addressObject = fc.dictionary(
  fc.constantFrom('city', 'state', 'province_code', 'country', 'line1', 'notes', 'emirate'),
  fc.oneof(fc.constantFrom(...PLACE_WORDS), place),
  { noNullPrototype: true },
);

const item = fc.oneof(
  { weight: 4, arbitrary: fc.record({ name: field, quantity: field, sku: field }, { requiredKeys: [] }) },
  field,
);
const customer = fc.oneof(
  {
    weight: 3,
    arbitrary: fc.record(
      { name: field, phone: fc.oneof(field, phone, phones), email: field, id: field },
      { requiredKeys: [] },
    ),
  },
  field,
);

/** An id as `validateOrder` lets it pass. */
const sourceOrderId = fc
  .string({ minLength: 1, maxLength: 255, unit: 'grapheme' })
  .filter((id) => id.trim() !== '' && [...id].length <= 255 && !/\p{Cc}/u.test(id));

/** Orders with the right members and any sort of value in them. */
export const anyPayload = fc.record(
  {
    source_order_id: sourceOrderId,
    order_number: field,
    customer,
    address: fc.oneof(field, place, addressObject),
    emirate: fc.oneof(field, place),
    area: fc.oneof(field, place),
    items: fc.oneof({ weight: 3, arbitrary: fc.array(item) }, field),
    total: fc.oneof(field, amount),
    currency: fc.oneof(field, fc.constantFrom('JPY', 'kwd', 'Dhs', 'Rs', 'INR')),
    ...ofTextFields(() => field),
  },
  { requiredKeys: ['source_order_id'] },
);

/** Any JSON object as JSON.parse creates it, including own members `__proto__` and `constructor`. */
export const anyJsonObject = fc
  .dictionary(fc.oneof(memberName, fc.constantFrom('items', 'customer', 'total')), tree, { noNullPrototype: true })
  .map((object) => object as Payload);

const ORDERS: readonly Payload[] = readFileSync(new URL('fixtures/orders.ndjson', import.meta.url), 'utf8')
  .trim()
  .split('\n')
  .map((line) => JSON.parse(line));

/** All places of a value that can be changed, each as its parent (object or list) and its name or index there. */
function placesIn(value: unknown): [parent: Payload, name: string][] {
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([name, inner]) => [[value as Payload, name], ...placesIn(inner)]);
}

type Change = {
  place: number;
  at: number;
  how: 'remove' | 'replace' | 'insert' | 'cut';
  value: unknown;
  piece: string;
};
const change: fc.Arbitrary<Change> = fc.record({
  place: fc.nat(),
  at: fc.nat(30),
  how: fc.constantFrom('remove', 'replace', 'insert', 'cut'),
  value: fc.oneof(field, phone, phones, amount, place),
  piece,
});

function apply(order: Payload, { place: index, at, how, value, piece: inserted }: Change): void {
  const places = placesIn(order).filter(([, name]) => name !== 'source_order_id');
  const [parent, name] = places[index % places.length] ?? [];
  if (!parent || name === undefined) return;
  const sent = parent[name];
  if (how === 'remove') delete parent[name];
  else if (how === 'replace' || typeof sent !== 'string') parent[name] = value;
  else parent[name] = sent.slice(0, at) + (how === 'insert' ? inserted : '') + sent.slice(how === 'cut' ? at + 1 : at);
}

/** Real orders, each changed in one to five places. */
export const mutatedOrder = fc
  .tuple(fc.constantFrom(...ORDERS), fc.array(change, { minLength: 1, maxLength: 5 }))
  .map(([order, changes]) => {
    // A copy, so that the shared sample stays unchanged.
    const mutated: Payload = structuredClone(order);
    for (const one of changes) apply(mutated, one);
    return mutated;
  });

/** Any of these. */
export const anything = fc.oneof(anyPayload, anyJsonObject, mutatedOrder);
