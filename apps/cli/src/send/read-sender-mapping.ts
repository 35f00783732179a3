import { type OrderMapping, pointerSegments, toJsonPointer } from '@orders/domain';
import { UsageError } from '../errors.ts';
import { readMappingOf } from '../read-json-file.ts';
import { escapeControls } from '../sanitize.ts';
import { FIELD } from './map-columns.ts';

/**
 * Reads the mapping of `--map`.
 *
 * @throws {UsageError} with all that is wrong. A file in the format of earlier versions gets its first entry as it is written now.
 */
export function readSenderMapping(input: unknown): OrderMapping {
  const entry = earlierEntry(input);
  if (!entry) return readMappingOf('--map', input);
  const [heading, field] = entry;
  const [before, now] = [{ [heading]: field }, entryOf(field, heading)].map((part) =>
    escapeControls(JSON.stringify(part)),
  );
  throw new UsageError(
    `--map: the format has changed, the field now comes before the heading: write ${now} instead of ${before}, and --ignore-column instead of null.`,
  );
}

/** The first entry of a file in the earlier format, `{"Mobile": "/customer/phone"}`; undefined if it is not such a file. */
function earlierEntry(input: unknown): [heading: string, field: string] | undefined {
  if (typeof input !== 'object' || input === null || Object.hasOwn(input, 'source_order_id')) return undefined;
  return Object.entries(input).find(
    ([heading, field]) => typeof field === 'string' && FIELD.test(field) && !FIELD.test(toJsonPointer([heading])),
  );
}

/** `{"customer": {"phone": "/Mobile"}}`. Parts of an address are joined now. */
function entryOf(field: string, heading: string): object {
  const pointer = toJsonPointer([heading]);
  if (field.startsWith('/address/')) return { address: { join: [pointer] } };
  const path = field === '/customer' ? '/customer/name' : field === '/items' ? '/items/0/name' : field;
  const entry = pointerSegments(path).reduceRight<unknown>(
    (inner, step) => (/^\d+$/.test(step) ? [inner] : { [step]: inner }),
    pointer,
  );
  return entry as object;
}
