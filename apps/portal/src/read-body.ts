import { Problem } from '@orders/domain';
import type { Request } from 'express';
import Joi from 'joi';

/**
 * The JSON body by a schema; members that it does not name are refused.
 *
 * @throws {Problem} `invalid_request` with a pointer to each member that breaks it, without echoing values.
 */
export function bodyOf<T extends object>(request: Request, schema: Record<keyof T, Joi.Schema>): T {
  return check<T>(request.body ?? {}, schema);
}

/** The query by a schema, as `bodyOf`. */
export function queryOf<T extends object>(request: Request, schema: Record<keyof T, Joi.Schema>): T {
  return check<T>(request.query, schema);
}

function check<T extends object>(value: unknown, schema: Record<keyof T, Joi.Schema>): T {
  const result = Joi.object(schema).validate(value, { abortEarly: false, errors: { wrap: { label: false } } });
  if (!result.error) return result.value as T;
  const errors = result.error.details.map(({ path, type, message }) => ({
    pointer: path.map((part) => `/${String(part).replaceAll('~', '~0').replaceAll('/', '~1')}`).join(''),
    code: type.replaceAll('.', '_'),
    detail: message,
  }));
  throw new Problem('invalid_request', { errors });
}
