/** Max length of each field, in code points. */
export const LIMITS = {
  orderNumber: 255,
  customerName: 200,
  phone: 64,
  email: 254,
  customerId: 255,
  address: 1_000,
  emirate: 100,
  area: 200,
  itemName: 500,
  sku: 255,
  currency: 16,
} as const;

/** Max items per order. Each takes some hundred bytes of memory, however short it was sent. */
export const MAX_ITEMS = 1_000;
