/** Below the base path. */
export const BATCH_PATH = '/ingest/orders/batch';
