import { readFileSync } from 'node:fs';
import { pointerSegments, valueAtSegments } from '../src/sources/json-pointer.ts';

type Json = Record<string, unknown>;

const { rawJSON } = JSON as unknown as { rawJSON(text: string): object };

/** An integer that is too large for a number keeps its digits when it is written again. */
const keepDigits = (_name: string, value: unknown, { source = '' }: { source?: string } = {}) =>
  Number.isInteger(value) && !Number.isSafeInteger(value) ? rawJSON(source) : value;

/**
 * A recorded delivery of a platform, such as `shopify/guest`; `fixtures/sources/README.md` lists them. One whose members are pointers
 * (RFC 6901) is the platform's `order` with other values at these.
 */
export function recordedDelivery(name: string): Json {
  const [platform, delivery = ''] = name.split('/');
  const file = new URL(`fixtures/sources/${platform}.json`, import.meta.url);
  const { [delivery]: recorded = {}, order = {} }: Record<string, Json> = JSON.parse(
    readFileSync(file, 'utf8'),
    keepDigits,
  );
  if (!Object.keys(recorded).every((member) => member.startsWith('/'))) return recorded;
  for (const [pointer, value] of Object.entries(recorded)) {
    const segments = pointerSegments(pointer);
    (valueAtSegments(order, segments.slice(0, -1)) as Json)[segments.at(-1) as string] = value;
  }
  return order;
}
