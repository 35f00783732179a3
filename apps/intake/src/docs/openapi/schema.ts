/** Refers to one of the document's own schemas. */
export const ref = (name: string) => ({ $ref: `#/components/schemas/${name}` });

export const text = { type: 'string' };
export const time = { type: 'string', format: 'date-time' };
export const orNull = (schema: object) => ({ anyOf: [schema, { type: 'null' }] });

/** A number as texts show it: 1,000. */
export const grouped = (number: number) => number.toLocaleString('en');
