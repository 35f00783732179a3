import { Problem } from '@orders/domain/problems.ts';
import type { Request } from 'express';
import Joi from 'joi';

/**
 * Cuts a page of at most `size` rows and half a megabyte of JSON.
 *
 * @param rows up to `size + 1` rows; the extra one shows that there are more.
 * @returns `next`: the cursor of the page's last row, or null at the end of the list.
 */
export function paginate<Row, Cursor>(
  rows: readonly Row[],
  size: number,
  cursorOf: (row: Row) => Cursor,
): { page: Row[]; next: Cursor | null } {
  const page = limitPageBytes(rows.slice(0, size));
  const last = page.at(-1);
  return { page, next: rows.length > page.length && last !== undefined ? cursorOf(last) : null };
}

/** Max bytes of a page as JSON; a single row is a fraction of that. */
const PAGE_BYTES = 524_288;

/** The first rows that fit into a page, at least one. */
export function limitPageBytes<Row>(rows: readonly Row[]): Row[] {
  let bytes = 0;
  const end = rows.findIndex((row, index) => {
    bytes += Buffer.byteLength(JSON.stringify(row));
    return bytes > PAGE_BYTES && index > 0;
  });
  return rows.slice(0, end === -1 ? rows.length : end);
}

export const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/** Max of a Postgres `integer`, the type of account and key ids. */
export const MAX_SMALL_ID = 2_147_483_647;

/** The id of an account, or another number of its size, in a body or a query. */
export const smallId = Joi.number().integer().min(1).max(MAX_SMALL_ID);

/**
 * A string of one line, at most `max` UTF-16 units, without control characters (Postgres rejects U+0000) and lone surrogates (not valid
 * UTF-8).
 */
export function plainText(max: number): Joi.StringSchema {
  return Joi.string()
    .max(max)
    .pattern(/^[^\p{Cc}\p{Cs}]*$/u);
}

/** A positive integer id from the path, or null if it is invalid or larger than `max`. */
export function idOf(text: string | string[] | undefined, max = Number.MAX_SAFE_INTEGER): number | null {
  const id = typeof text === 'string' && /^[1-9]\d{0,15}$/.test(text) ? Number(text) : null;
  return id !== null && id <= max ? id : null;
}

/** The order id from the path. @throws {Problem} `order_not_found` if it is not a valid id. */
export function orderIdOf(request: Request): number {
  const id = idOf(request.params.orderId);
  if (id === null) throw new Problem('order_not_found');
  return id;
}

/** A receipt id from the path, or null if it is not a UUID. */
export function uuidOf(text: string | string[] | undefined): string | null {
  return typeof text === 'string' && UUID.test(text) ? text : null;
}

/** A string id from the path, such as a user's or a session's, or null if it is invalid. */
export function textIdOf(text: string | string[] | undefined): string | null {
  return typeof text === 'string' && /^[\w-]{1,100}$/.test(text) ? text : null;
}

/**
 * Parses and validates the JSON body; unknown members are rejected. A parsed body takes many times its length in memory: call this right
 * before use, not before an `await`.
 *
 * @throws {Problem} `malformed_body`, or `invalid_request` with a pointer to each invalid member, without its value.
 */
export function bodyOf<T extends object>(request: Request, schema: Record<keyof T, Joi.Schema>): T {
  return check<T>(parse(request.body), schema);
}

/** A missing body, or one of another media type, counts as `{}`. */
function parse(body: unknown): unknown {
  if (!Buffer.isBuffer(body) || body.length === 0) return {};
  try {
    const value: unknown = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(body));
    if (typeof value === 'object' && value !== null) return value;
  } catch {
    // Invalid JSON is rejected below, as is JSON that is neither an object nor an array.
  }
  throw new Problem('malformed_body');
}

/** Validates the query string, as `bodyOf` does the body. */
export function queryOf<T extends object>(request: Request, schema: Record<keyof T, Joi.Schema>): T {
  return check<T>(request.query, schema);
}

/** Bounds the response: a small body can have ten thousand errors. */
const MAX_ERRORS = 100;

/** Replace those of joi's messages that echo the value. */
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
