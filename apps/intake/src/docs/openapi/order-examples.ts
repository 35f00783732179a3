/** An order as most shops send it. */
export const ORDER_EXAMPLE = {
  source_order_id: 'SHOP-10001',
  order_number: '#10001',
  customer: { name: 'Aisha Khan', phone: '050 123 4567' },
  address: 'Apt 1204, Marina Heights, Dubai Marina',
  emirate: 'Dubai',
  items: [{ name: 'Chicken Shawarma', quantity: 2, sku: 'SH-1' }],
  total: '149.50',
};

const ARABIC_ORDER_EXAMPLE = {
  source_order_id: 'SHOP-10002',
  customer: { name: 'محمد الحمادي', phone: '+971 55 776 4650', email: 'mohammed@example.com', id: 'c-204' },
  address: 'فيلا 17، شارع الخليج العربي',
  emirate: 'أبو ظبي',
  area: 'الخالدية',
  items: [
    { name: 'Date Box 1kg', quantity: 2, sku: 'DT-09' },
    { name: 'Arabic Coffee 500g', quantity: 1, sku: 'AC-500' },
  ],
  total: '215.00',
  currency: 'AED',
  delivery_instructions: 'Call before arrival',
};

/** Examples of a request with one order. */
export const orderExamples = {
  typical: { summary: 'An order from Dubai', value: ORDER_EXAMPLE },
  arabic: { summary: 'Every field, partly in Arabic', value: ARABIC_ORDER_EXAMPLE },
  minimal: { summary: 'Only what is required', value: { source_order_id: 'SHOP-10003' } },
};

const BATCH_EXAMPLE = [ORDER_EXAMPLE, ARABIC_ORDER_EXAMPLE];

/** Examples of a batch as a JSON array. */
export const batchArrayExamples = { array: { summary: 'Two orders', value: BATCH_EXAMPLE } };

/** Examples of a batch as NDJSON. */
export const batchLinesExamples = {
  lines: { summary: 'Two orders', value: `${BATCH_EXAMPLE.map((order) => JSON.stringify(order)).join('\n')}\n` },
};
