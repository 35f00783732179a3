import { MAX_SOURCE_ORDER_ID } from '@orders/domain/interface-limits.ts';

/** A reference to one of the document's schemas. */
export const ref = (name: string) => ({ $ref: `#/components/schemas/${name}` });

export const text = { type: 'string' };
export const time = { type: 'string', format: 'date-time' };
export const uuid = { type: 'string', format: 'uuid' };
export const orNull = (schema: object) => ({ anyOf: [schema, { type: 'null' }] });
export const integerOrNull = orNull({ type: 'integer' });
export const sourceOrderId = { type: 'string', minLength: 1, maxLength: MAX_SOURCE_ORDER_ID };

/** An object with these properties only, all of them required except for `optional`. */
export function strictly<Properties extends Record<string, object>>(
  properties: Properties,
  optional: readonly (keyof Properties)[] = [],
) {
  const required = Object.keys(properties).filter((name) => !optional.includes(name));
  return { type: 'object', required, additionalProperties: false, properties };
}

/** JSON content. @param examples each with its summary, by name. */
export function json(schema: object, examples?: Record<string, readonly [summary: string, value: object]>) {
  const shown = Object.entries(examples ?? {}).map(([name, [summary, value]]) => [name, { summary, value }]);
  return { 'application/json': { schema, ...(examples && { examples: Object.fromEntries(shown) }) } };
}

/** The parameter `Prefer`. */
export function prefer(description: string, example?: string) {
  return { name: 'Prefer', in: 'header', description, schema: text, ...(example && { example }) };
}

/** A number with thousands separators: 1,000. */
export const grouped = (number: number) => number.toLocaleString('en');
