import Joi from 'joi';

const HOUR_MS = 3_600_000;

/** How long a replaced key or secret still works, in milliseconds. */
export const GRACE_MS = { none: 0, '1h': HOUR_MS, '24h': 24 * HOUR_MS, '7d': 7 * 24 * HOUR_MS };

export type Grace = keyof typeof GRACE_MS;

export const graceSchema = Joi.string()
  .valid(...Object.keys(GRACE_MS))
  .required();
