import { EMIRATE_CODES } from '@orders/domain/normalize/place/emirates.ts';
import { type Channel, REVIEW_STATES, type ReviewState } from '@orders/domain/receipt-states.ts';
import { SEVERITIES, type Severity } from '@orders/domain/severity.ts';
import Joi from 'joi';
import { MARKS, type Mark, type ReviewFilter } from './review-filter.ts';

/** Query parameters of a list of orders. */
export interface FilterQuery {
  state: ReviewState;
  q?: string;
  channel?: Channel;
  emirate?: string;
  severity?: Severity;
  mark?: Mark;
  /** The number of a source. */
  source?: number;
  /** Only likely duplicates. */
  similar?: 'yes';
  written_after?: Date;
  written_before?: Date;
}

const MAX_SEARCH_LENGTH = 200;
const time = Joi.date().iso();

export const orderId = Joi.number().integer().positive().max(Number.MAX_SAFE_INTEGER);

const MAX_ORDERS_PER_REQUEST = 1000;
export const orderIds = Joi.array().items(orderId.strict()).min(1).max(MAX_ORDERS_PER_REQUEST).required();

export const FILTER: Record<keyof FilterQuery, Joi.Schema> = {
  state: Joi.valid(...REVIEW_STATES).default('needs_review'),
  // Postgres rejects U+0000.
  q: Joi.string()
    .replace(/\p{Cc}/gu, ' ')
    .trim()
    .max(MAX_SEARCH_LENGTH)
    .allow(''),
  channel: Joi.valid('rest', 'webhook'),
  emirate: Joi.valid(...EMIRATE_CODES, 'none'),
  severity: Joi.valid(...SEVERITIES),
  mark: Joi.valid(...MARKS),
  source: Joi.number()
    .integer()
    .positive()
    .max(2 ** 31 - 1),
  similar: Joi.valid('yes'),
  written_after: time,
  written_before: time,
};

export function toFilter(accountId: number, query: FilterQuery): ReviewFilter {
  return {
    accountId,
    state: query.state,
    searchTerms: query.q?.toWellFormed() || null,
    channel: query.channel ?? null,
    emirate: query.emirate ?? null,
    severity: query.severity ?? null,
    mark: query.mark ?? null,
    source: query.source ?? null,
    writtenAfter: query.written_after ?? null,
    writtenBefore: query.written_before ?? null,
  };
}
