import { Problem } from '@orders/domain';
import type { Request } from 'express';
import Joi from 'joi';

export const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/** What Postgres holds in an `integer`, as ids of accounts and keys are. */
export const MAX_SMALL_ID = 2_147_483_647;

/** The id of an account, in a body or a query. */
export const smallId = Joi.number().integer().min(1).max(MAX_SMALL_ID);

/**
 * Text of one line, at most `max` UTF-16 units: without control characters, of which Postgres refuses U+0000, and without halves of
 * surrogate pairs, which are no UTF-8.
 */
export function plainText(max: number): Joi.StringSchema {
  return Joi.string()
    .max(max)
    .pattern(/^[^\p{Cc}\p{Cs}]*$/u);
}

/** A number such as an order's id from the path, or null when it is none, or larger than `max`. */
export function idOf(text: string | string[] | undefined, max = Number.MAX_SAFE_INTEGER): number | null {
  const id = typeof text === 'string' && /^[1-9]\d{0,15}$/.test(text) ? Number(text) : null;
  return id !== null && id <= max ? id : null;
}

/** The order that the path names. @throws {Problem} `order_not_found` for what is no id. */
export function orderIdOf(request: Request): number {
  const id = idOf(request.params.orderId);
  if (id === null) throw new Problem('order_not_found');
  return id;
}

/** The id of a receipt from the path, or null when it is no UUID. */
export function uuidOf(text: string | string[] | undefined): string | null {
  return typeof text === 'string' && UUID.test(text) ? text : null;
}

/** An id that is a text, as of a user or a session, from the path, or null when it can be none. */
export function textIdOf(text: string | string[] | undefined): string | null {
  return typeof text === 'string' && /^[\w-]{1,100}$/.test(text) ? text : null;
}

/**
 * The JSON body by a schema; members that it does not name are refused. What is parsed takes many times its length: ask for it right
 * before it is used, not before something is waited for.
 *
 * @throws {Problem} `malformed_body`, or `invalid_request` with a pointer to each member that breaks it, without echoing values.
 */
export function bodyOf<T extends object>(request: Request, schema: Record<keyof T, Joi.Schema>): T {
  return check<T>(parse(request.body), schema);
}

/** Without a body, or with one that does not say it is JSON, nothing is asked for. */
function parse(body: unknown): unknown {
  if (!Buffer.isBuffer(body) || body.length === 0) return {};
  try {
    const value: unknown = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(body));
    if (typeof value === 'object' && value !== null) return value;
  } catch {
    // Refused below, as what is neither object nor list.
  }
  throw new Problem('malformed_body');
}

/** The query by a schema, as `bodyOf`. */
export function queryOf<T extends object>(request: Request, schema: Record<keyof T, Joi.Schema>): T {
  return check<T>(request.query, schema);
}

/** A small body can break ten thousand rules. */
const MAX_ERRORS = 100;

/** In the place of those of joi that repeat the value. */
const MESSAGES = Object.fromEntries(
  ['base', 'name', 'invert.base', 'invert.name'].map((kind) => [
    `string.pattern.${kind}`,
    '{{#label}} has characters or a form that are not allowed',
  ]),
);

function check<T extends object>(value: unknown, schema: Record<keyof T, Joi.Schema>): T {
  const result = Joi.object(schema).validate(value, {
    abortEarly: false,
    errors: { wrap: { label: false } },
    messages: MESSAGES,
  });
  if (!result.error) return result.value as T;
  const errors = result.error.details.slice(0, MAX_ERRORS).map(({ path, type, message }) => ({
    pointer: path.map((part) => `/${String(part).replaceAll('~', '~0').replaceAll('/', '~1')}`).join(''),
    code: type.replaceAll('.', '_'),
    detail: message,
  }));
  throw new Problem('invalid_request', { errors });
}
