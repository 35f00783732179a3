import { meansNothing } from '../normalize/text.ts';
import type { FieldMapping, JoinedValue, MappedValue } from './mapping.ts';
import { fieldReader, isConstant, isEntries, isList, type Reader, toText } from './read-values.ts';

/** Nothing but constants, 0, or a place in a template that a program did not fill. */
const NAMES_NO_ORDER = /^0*$|\{\{/;
/** How Shopify's GraphQL API, and with it Shopify Flow, writes the id of an order. */
const SHOPIFY_ID = /^gid:\/\/shopify\/Order\/(\d+)(?:\?.*)?$/;

/** The first text that names an order. What all orders have in common does not: all but the first would be lost as repeated ones. */
export function idReader(from: FieldMapping, maxText: number): Reader<string | undefined> {
  const candidates = (isList(from) ? from : [from]).map((one) => ({
    read: fieldReader(one, maxText),
    readPointers: fieldReader(withoutConstants(one), maxText),
  }));
  return (document) => {
    for (const { read, readPointers } of candidates) {
      const [id, found] = [read(document), toText(readPointers(document) ?? '').trim()];
      if (id && !NAMES_NO_ORDER.test(found) && !meansNothing(found)) return toText(id).replace(SHOPIFY_ID, '$1');
    }
    return undefined;
  };
}

function withoutConstants(value: MappedValue): FieldMapping {
  if (isConstant(value)) return [];
  if (typeof value === 'string' || !('join' in value)) return value;
  const join = value.join.flatMap((part): JoinedValue['join'] => {
    if (isList(part)) return [part.filter((one) => !isConstant(one))];
    return isEntries(part) || !isConstant(part) ? [part] : [];
  });
  return { ...value, join };
}
