/** Orders of one batch. */
export const MAX_BATCH_ORDERS = 1000;

/** Errors that the reply to a batch lists of one order: strict handling could find more in a batch than it has bytes. */
export const MAX_BATCH_ERRORS = 20;

/** So many may be asked about at once. */
export const MAX_SOURCE_ORDER_IDS = 1000;

/** The most of a body, unless the operator set `MAX_BODY_BYTES`; also of each order of a batch. */
export const DEFAULT_MAX_BODY_BYTES = 262_144;

/** The most of a batch, unless the operator set `MAX_BATCH_BYTES`. */
export const DEFAULT_MAX_BATCH_BYTES = 8_388_608;
