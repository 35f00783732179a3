import type { OrderMapping } from '@orders/domain/sources/mapping.ts';
import type { SourceSettings } from '@orders/domain/sources/settings.ts';
import { LARGEST } from './attack.ts';

/** A mapping that takes as long as its limits allow, with the delivery for which it does. */
export interface HostileMapping {
  name: string;
  mapping: OrderMapping;
  body: Buffer;
}

/** The secret in a header, so that the attack signs nothing. */
export const TOKEN: SourceSettings = { signature: { scheme: 'token', header: 'x-token' } };

const timesOf = <Part>(length: number, make: (index: number) => Part) => Array.from({ length }, (_, at) => make(at));
const nested = (depth: number, inner: string) => '['.repeat(depth) + inner + ']'.repeat(depth);
const deepPointer = (depth: number, last: number) => `${'/0'.repeat(depth - 1)}/${last}`;

/** Searches of lists for values that no entry has. Those of numbered items with another value are read twice. */
function searches(depth: number): OrderMapping {
  const search = (at: number) => ({ find: '/l', where: { [deepPointer(depth, at)]: ['x'] }, value: '/0' });
  const items = timesOf(10, (item) => ({ name: [...timesOf(5, (at) => search(item * 5 + at)), '/id'] }));
  return { source_order_id: '/id', items };
}

/** A list of 1,000 entries that are nested to this depth, in a body of at most this length. */
function deepList(depth: number, length: number): Buffer {
  const text = 'İ'.repeat(Math.max(0, Math.floor((length - 100) / 2000) - depth - 2));
  return Buffer.from(`{"id":"1","l":[${timesOf(1_000, () => nested(depth, text && `"${text}"`)).join()}]}`);
}

const inItem = (at: number) => ({
  find: '/l',
  where: Object.fromEntries(timesOf(5, (n) => [`/${at}${n}`, n < 4 ? [null] : ['x']])),
  value: '/v',
});
const text = { constant: '&amp;'.repeat(51) };

export const HOSTILE_MAPPINGS: readonly HostileMapping[] = [
  { name: 'searches of a list of deep entries', mapping: searches(61), body: deepList(61, LARGEST) },
  { name: 'searches of a list, in a short delivery', mapping: searches(7), body: deepList(6, 16_000) },
  {
    name: 'searches of a list in each item',
    mapping: { source_order_id: '/id', items: { list: '/l', name: timesOf(4, inItem) } },
    body: Buffer.from(`{"id":"1","l":[${timesOf(1_000, () => `{"l":[${timesOf(125, () => 0)}]}`)}]}`),
  },
  {
    name: 'conditions of 10,000 items',
    mapping: {
      source_order_id: '/id',
      items: {
        list: '/l',
        name: '/v',
        only: Object.fromEntries(timesOf(5, (at) => [deepPointer(11, at), [null]])),
        except: Object.fromEntries(timesOf(5, (at) => [deepPointer(11, at + 5), ['x']])),
      },
    },
    body: Buffer.from(`{"id":"1","l":[${timesOf(10_000, () => nested(11, ''))}]}`),
  },
  {
    name: 'long constants in each item',
    mapping: {
      source_order_id: '/id',
      items: { list: '/l', name: { join: timesOf(10, () => text) }, sku: { join: timesOf(10, () => text) } },
    },
    body: Buffer.from(`{"id":"1","l":[${timesOf(1_001, () => 0)}]}`),
  },
];
