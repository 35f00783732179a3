import Joi from 'joi';

const HOUR_MS = 3_600_000;

/** How long what is replaced may still work: not at all, an hour, a day or a week; in milliseconds. */
export const LASTING_MS = { none: 0, '1h': HOUR_MS, '24h': 24 * HOUR_MS, '7d': 7 * 24 * HOUR_MS };

export type Lasting = keyof typeof LASTING_MS;

export const lasting = Joi.string()
  .valid(...Object.keys(LASTING_MS))
  .required();
