import { Problem } from '../problems.ts';
import type { SourcePreset } from './settings.ts';

const MAX_LENGTH = 30;
const PREFIX = /^[a-z0-9](?:[a-z0-9-]*[a-z0-9])?$/;
/** No prefix contains it, so two prefixes never make the same id of two platform ids. */
const SEPARATOR = ':';

/** Prefixes of sources whose name has no Latin letter or digit. */
const FALLBACKS: Readonly<Record<SourcePreset, string>> = {
  shopify: 'shopify',
  woocommerce: 'woocommerce',
  salla: 'salla',
  zid: 'zid',
  'standard-webhooks': 'webhooks',
  custom: 'shop',
};

/** The `source_order_id` of a source's order: the platform's id behind the prefix, `web-shop:777`. Without a prefix, it is the platform's. */
export function storedOrderId(prefix: string, platformId: string): string {
  return prefix === '' ? platformId : `${prefix}${SEPARATOR}${platformId}`;
}

/**
 * Reads the prefix of a source: empty, or up to 30 lower-case letters, digits and hyphens.
 *
 * @throws {Problem} `invalid_request`.
 */
export function readIdPrefix(input: string): string {
  if (input === '' || (input.length <= MAX_LENGTH && PREFIX.test(input))) return input;
  const detail = `A prefix has up to ${MAX_LENGTH} lower-case letters a to z, digits and hyphens, with no hyphen at its ends.`;
  throw new Problem('invalid_request', {
    detail,
    errors: [{ pointer: '/id_prefix', code: 'id_prefix_invalid', detail }],
  });
}

/** The prefix of a new source, from its name: `web-shop`, or `web-shop-2` if the account already had that one. */
export function defaultIdPrefix(name: string, preset: SourcePreset, taken: ReadonlySet<string>): string {
  const words =
    name
      .normalize('NFKD')
      .toLowerCase()
      .match(/[a-z0-9]+/g) ?? [];
  const base = cut(words.join('-'), MAX_LENGTH) || FALLBACKS[preset];
  for (let number = 1; ; number += 1) {
    const end = number === 1 ? '' : `-${number}`;
    const prefix = cut(base, MAX_LENGTH - end.length) + end;
    if (!taken.has(prefix)) return prefix;
  }
}

function cut(text: string, length: number): string {
  return text.slice(0, length).replace(/-$/, '');
}
