/** Routes that more than one file names, relative to the base path. */
export const ORDERS_PATH = '/ingest/orders';
export const BATCH_PATH = '/ingest/orders/batch';
export const WEBHOOK_PATH = '/ingest/webhook';
export const PREVIEW_PATH = '/ingest/preview';
export const RECONCILE_PATH = '/ingest/reconcile';
