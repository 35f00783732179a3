/** A reference to one of the document's schemas. */
export const ref = (name: string) => ({ $ref: `#/components/schemas/${name}` });

export const text = { type: 'string' };
export const time = { type: 'string', format: 'date-time' };
export const orNull = (schema: object) => ({ anyOf: [schema, { type: 'null' }] });

/** A number with thousands separators: 1,000. */
export const grouped = (number: number) => number.toLocaleString('en');
