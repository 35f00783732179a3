import type { OrderMapping } from '@orders/domain/sources/mapping.ts';

/** Finds the fields of a mapping that have a value in no order: a pointer is probably wrong. */
export function createFieldCheck(mapping: OrderMapping | null) {
  const empty = new Set(mapping ? fieldsOf(mapping) : []);
  return {
    /** @param text the JSON of an order; empty if it cannot be sent. */
    see(text: string): void {
      if (empty.size === 0 || text === '') return;
      for (const field of fieldsOf(parse(text))) empty.delete(field);
    },
    /** For example `customer.phone`. */
    empty: () => [...empty],
  };
}

/** The names of the members, with those inside of the customer. */
function fieldsOf({ customer, ...fields }: { customer?: object }): string[] {
  return [...Object.keys(fields), ...Object.keys(customer ?? {}).map((name) => `customer.${name}`)];
}

/** Without members if it is no JSON object, which a mapping leaves as it is. */
function parse(text: string): object {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null ? value : {};
  } catch {
    return {};
  }
}
