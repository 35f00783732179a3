import { CONDITIONS, type OrderMapping } from './mapping.ts';

/** Of a valid mapping, or a part of one: its constants, and its strings except separators, with the pointers of conditions. */
export function countRead(part: unknown): number {
  if (typeof part === 'string') return 1;
  if (typeof part !== 'object' || part === null) return 0;
  return sumOf(Object.entries(part), ([name, value]) => {
    if (name === 'separator') return 0;
    if (name === 'constant') return 1;
    return CONDITIONS.has(name) ? Object.keys(value).length : countRead(value);
  });
}

/** The same, of those that are read in each entry of a list that is searched. */
export function countSearchedFor(part: unknown): number {
  if (typeof part !== 'object' || part === null) return 0;
  if ('where' in part) return countRead({ where: part.where });
  if ('each' in part) return countRead({ ...part, each: null });
  return sumOf(Object.values(part), countSearchedFor);
}

function sumOf<Part>(parts: readonly Part[], count: (part: Part) => number): number {
  return parts.reduce((sum, part) => sum + count(part), 0);
}

/** More than any preset has. With these, a short delivery takes at most a few milliseconds. */
const [MAX_CHEAP_SEARCHED, MAX_CHEAP_ITEM_LENGTH] = [15, 500];

/** Whether a mapping reads or writes so much for each entry of a list that also a short delivery may take long: up to 0.1 s, and the largest 0.2 s. */
export function isCostly(mapping: OrderMapping): boolean {
  const known = costly.get(mapping) ?? estimate(mapping);
  costly.set(mapping, known);
  return known;
}

/** Estimated once for each mapping, not for each delivery. */
const costly = new WeakMap<OrderMapping, boolean>();

function estimate(mapping: OrderMapping): boolean {
  const { items } = mapping;
  if (countSearchedFor(mapping) > MAX_CHEAP_SEARCHED) return true;
  return items !== undefined && 'list' in items && JSON.stringify(items).length > MAX_CHEAP_ITEM_LENGTH;
}
