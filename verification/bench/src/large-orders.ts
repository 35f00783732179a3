const GOODS = [
  ['Basmati Rice 5kg', 'GR-114'],
  ['Chicken Shawarma', 'SH-1'],
  ['Date Box 1kg', 'DT-09'],
  ['Birthday cake, 2kg', 'CK-2KG'],
  ['Running Shoes 42', 'SHOE-42-BLK'],
  ['Paper A4 (ream)', 'ST-880'],
  ['قهوة عربية', 'KA-07'],
] as const;
const NOTES = [
  'Wrap it separately and write the name of the recipient on the label, as several families share this delivery. Keep it away from the frozen goods.',
  'If it is out of stock, replace it with the next larger size of the same brand, and call before you replace it with another brand or with a smaller size.',
  'يرجى وضع هذا الصنف في كيس منفصل وكتابة اسم المستلم عليه، وعدم وضعه مع المواد المجمدة',
  'Engrave "Happy birthday Mariam" on the lid, in the same letters as on the order of last year, and send a picture of it before it is packed.',
  'Two of them go to the reception on the ground floor, the others to the kitchen on the third floor. The lift for goods is behind the building; the guard has its key.',
];
const VARIANTS = 16;
const ID = '<id>';
/** Room for the id of an order. */
const MAX_ID_LENGTH = 32;

interface Shape {
  maxItems: number;
  maxBytes: number;
  /** Whether items have a price and a note: two unknown fields, so two warnings per item. */
  hasExtras: boolean;
}

const SHAPES = {
  '64 KB': { maxItems: 1000, maxBytes: 65_536, hasExtras: true },
  '256 KB': { maxItems: 1000, maxBytes: 262_144, hasExtras: true },
  '1,000 items': { maxItems: 1000, maxBytes: 262_144, hasExtras: false },
} satisfies Record<string, Shape>;

/** Orders with as many items as fit into this size. By default, loads have orders of usual length instead. */
export type OrderSize = keyof typeof SHAPES;
export const ORDER_SIZES = Object.keys(SHAPES) as OrderSize[];

/** Prepares the bodies of large orders once. @returns a function that only inserts the id. */
export function createLargeOrderMaker(size: OrderSize): (sourceOrderId: string, number: number) => string {
  const bodies = Array.from({ length: VARIANTS }, (_, variant) => makeBody(SHAPES[size], variant));
  return (sourceOrderId, number) => {
    const [before, after] = bodies[number % VARIANTS] as [string, string];
    return before + sourceOrderId + after;
  };
}

function makeBody({ maxItems, maxBytes, hasExtras }: Shape, variant: number): [string, string] {
  const order = {
    source_order_id: ID,
    order_number: `#20${variant}`,
    customer: {
      name: 'Aisha Al Mansoori',
      phone: '050-123 4567',
      email: `buyer${variant}@example.com`,
      id: `B-${variant}`,
    },
    address: `Warehouse ${variant}, Al Quoz Industrial Area 3`,
    emirate: 'Dubai',
    area: 'Al Quoz',
    total: '48,210.50',
    currency: 'AED',
    delivery_instructions: 'Ramp 4. Call the store keeper half an hour before you arrive.',
  };
  const items: object[] = [];
  let bytes = Buffer.byteLength(JSON.stringify({ ...order, items })) + MAX_ID_LENGTH;
  while (items.length < maxItems) {
    const item = makeItem(variant * 1009 + items.length, hasExtras);
    bytes += Buffer.byteLength(JSON.stringify(item)) + 1;
    if (bytes > maxBytes) break;
    items.push(item);
  }
  return JSON.stringify({ ...order, items }).split(ID) as [string, string];
}

function makeItem(number: number, hasExtras: boolean) {
  const [name, sku] = GOODS[number % GOODS.length] as (typeof GOODS)[number];
  // Knuth's multiplicative hash, for varied values.
  const spread = (number * 2_654_435_761) % 99_991;
  return {
    name: `${name}, lot ${spread}`,
    quantity: (spread % 24) + 1,
    sku: `${sku}-${spread % 997}`,
    ...(hasExtras && {
      price: `${spread % 500}.${String(spread % 100).padStart(2, '0')}`,
      note: `${spread}: ${NOTES[spread % NOTES.length]}`,
    }),
  };
}
