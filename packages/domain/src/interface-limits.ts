/** Max length of a `source_order_id`, in code points. */
export const MAX_SOURCE_ORDER_ID = 255;

export const MAX_BATCH_ORDERS = 1000;

/** Max errors per order in the response to a batch: with strict handling they could exceed the batch in size. */
export const MAX_BATCH_ERRORS = 20;

/** Max ids of one reconcile request. */
export const MAX_SOURCE_ORDER_IDS = 1000;

/** Max cancellations of one request. */
export const MAX_CANCELLATIONS = 1000;

/** Max bytes of a request to cancel; fits 1,000 cancellations with reasons of usual length. */
export const MAX_CANCEL_BYTES = 1_048_576;

/** Max length of the reason of a cancellation, in code points. */
export const MAX_REASON = 500;

/** Default of `MAX_BODY_BYTES`; also applies to each order of a batch. */
export const DEFAULT_MAX_BODY_BYTES = 262_144;

/** Default of `MAX_BATCH_BYTES`. */
export const DEFAULT_MAX_BATCH_BYTES = 8_388_608;

/** Max events of one page of the feed. */
export const MAX_EVENTS = 1000;

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
