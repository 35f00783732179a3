import Joi from 'joi';
import { plainText } from '../read-request.ts';
import type { DeadFilter } from './dead-letters.ts';

/** Filter of dead receipts as in a query or body. */
export interface DeadQuery {
  error_code?: string;
  source_prefix?: string;
  died_from?: Date;
  died_to?: Date;
}

export const DEAD_FILTER: Record<keyof DeadQuery, Joi.Schema> = {
  error_code: Joi.string().pattern(/^[a-z_]{1,50}$/),
  source_prefix: plainText(255),
  died_from: Joi.date().iso(),
  died_to: Joi.date().iso(),
};

export function deadFilterOf({ error_code, source_prefix, died_from, died_to }: DeadQuery): DeadFilter {
  return { errorCode: error_code, sourcePrefix: source_prefix, from: died_from, to: died_to };
}
