/** Routes that more than one file names, relative to the base path. */
export const ORDERS_PATH = '/ingest/orders';
export const BATCH_PATH = '/ingest/orders/batch';
export const WEBHOOK_PATH = '/ingest/webhook';
export const CANCEL_PATH = '/ingest/orders/cancel';
export const WEBHOOK_CANCEL_PATH = '/ingest/webhook/cancel';
export const PREVIEW_PATH = '/ingest/preview';
export const RECONCILE_PATH = '/ingest/reconcile';
export const EVENTS_PATH = '/ingest/events';
export const SOURCES_PATH = '/ingest/sources';
export const SOURCE_ROUTE = `${SOURCES_PATH}/:sourceId`;
