import type { IncomingHttpHeaders } from 'node:http';
import { readTextField } from '../normalize/text-field.ts';
import { WarningList } from '../normalize/warnings.ts';
import { decodeBody, parseBody } from '../parse-body.ts';
import { sourceOrderIdErrors } from '../validate-order.ts';
import { type DeliveryKind, kindOf, readValue } from './delivery-kind.ts';
import { storedOrderId } from './id-prefix.ts';
import { valueAt } from './json-pointer.ts';
import { type MappedPayload, mapWithEmpty } from './map-order.ts';
import type { OrderMapping } from './mapping.ts';
import type { SourceSettings } from './settings.ts';

/** Finds values that may be long numbers. A text without a match has only numbers that JavaScript holds exactly. */
const MAYBE_INEXACT = /[:[,]\s*-?(?:[\d.]{16}|[\d.]+[eE])/;
/** Of a JSON text: its strings, which are skipped, and its numbers that are long or have an exponent. */
const STRING_OR_NUMBER = /"[^"\\]*(?:\\.[^"\\]*)*"|-?\d(?:[\d.]{15,}(?:[eE][+-]?\d+)?|[\d.]*[eE][+-]?\d+)/g;
/** Every decimal number of this many digits is exact. */
const EXACT_DIGITS = 15;

/**
 * Parses the body of a delivery like `parseBody`, but numbers that would lose digits, or are too large, become strings as written.
 * Platforms use long numbers as ids.
 *
 * @throws {Problem} `malformed_body`.
 */
export function parseDelivery(body: Buffer): Record<string, unknown> {
  const document = parseBody(body);
  const text = decodeBody(body);
  // A reviver of JSON.parse would be simpler, but takes 100 times as long for a list of numbers.
  return MAYBE_INEXACT.test(text) ? JSON.parse(text.replace(STRING_OR_NUMBER, quoteInexact)) : document;
}

function quoteInexact(token: string): string {
  if (token.startsWith('"')) return token;
  const [mantissa = ''] = token.split(/[eE]/);
  const isExact = Number.isFinite(Number(token)) && mantissa.replace(/\D/g, '').length <= EXACT_DIGITS;
  return isExact ? token : `"${token}"`;
}

/** Bytes by which a payload may be longer than its delivery. A mapping can repeat a text in many fields. */
const MAX_ADDED_BYTES = 65_536;

/** A delivery as read by the settings and the mapping of its source. */
export interface ReadDelivery {
  kind: DeliveryKind;
  /** The platform's id of this delivery; null without a usable one. */
  deliveryId: string | null;
  /** When the platform changed the order; null if it does not say, or says a time in the future. */
  modifiedAt: Date | null;
  /** The payload of the order, with the stored id; null if there is no valid `source_order_id`, or it or the payload is too long. */
  payload: (MappedPayload & { source_order_id: string }) | null;
}

/** What a source makes of a delivery. */
export interface DeliveryReading {
  settings: SourceSettings;
  mapping: OrderMapping;
  /** See `storedOrderId`. */
  idPrefix: string;
}

/** The members of `headers` that the settings name; those of a request are too many to pass on. */
export function namedHeaders(
  headers: IncomingHttpHeaders,
  { topic, deliveryId }: SourceSettings,
): Record<string, string> {
  const named: Record<string, string> = {};
  for (const value of [topic, deliveryId]) {
    const header = value && 'header' in value ? headers[value.header] : undefined;
    if (value && 'header' in value && typeof header === 'string') named[value.header] = header;
  }
  return named;
}

/**
 * Reads an authentic delivery. Never throws: a body that is not a JSON object is an order without an id.
 *
 * @param headers at least those that the settings name.
 */
export function readDelivery(
  body: Buffer,
  headers: IncomingHttpHeaders,
  { settings, mapping, idPrefix }: DeliveryReading,
): ReadDelivery {
  const document = tryToParse(body);
  const deliveryId = readValue(document, headers, settings.deliveryId);
  const payload = mapDelivery(body, document, mapping, idPrefix);
  return {
    kind: kindOfMapped(kindOf(document, headers, settings), payload, settings),
    deliveryId: deliveryId !== null && /^[\x21-\x7e]{1,200}$/.test(deliveryId) ? deliveryId : null,
    modifiedAt: readModifiedAt(document, settings),
    payload,
  };
}

function readModifiedAt(document: unknown, { modifiedAt }: SourceSettings): Date | null {
  const pointers = [modifiedAt?.pointer ?? []].flat();
  return pointers.map((pointer) => timeAt(document, pointer)).find((time) => time !== null) ?? null;
}

/** `2026-11-01T09:15:01`, as JavaScript writes it, `Sun Nov 01 2026 12:15:01 GMT+0300`, or as e-mails have it, `Sun, 01 Nov 2026 09:15:01 +0000`. */
const TIME =
  /^(?:\d{4}-\d\d-\d\d[T ]\d\d:\d\d|[A-Z][a-z]{2} [A-Z][a-z]{2} \d\d \d{4} \d\d:\d\d:\d\d GMT[+-]\d{4}$|[A-Z][a-z]{2}, \d\d? [A-Z][a-z]{2} \d{4} \d\d:\d\d:\d\d (?:GMT|[+-]\d{4})$)/;
const HAS_ZONE = /(?:Z|GMT|[+-]\d\d:?\d\d)$/i;
/** A number of seconds or milliseconds as text. */
const DIGITS = /^\d{10}(?:\d{3})?$/;

/** Earlier times mean that none is set, as in `SAYS_NO`. Postgres does not store those before 4713 BC. */
const FIRST_TIME = Date.UTC(1980);
const FIRST_MILLISECONDS = Date.UTC(2100) / 1000;

/** A clock that is further ahead is wrong: all that its platform sends later would be older. */
const MAX_AHEAD_MS = 86_400_000;

/** A text without a zone is UTC; a number, also as text, is in seconds, or in milliseconds if it is too large for this century. */
function timeAt(document: unknown, pointer: string): Date | null {
  const sent = valueAt(document, pointer);
  const value = typeof sent === 'string' && DIGITS.test(sent) ? Number(sent) : sent;
  if (typeof value === 'string' && !TIME.test(value)) return null;
  const time =
    typeof value === 'number'
      ? new Date(value < FIRST_MILLISECONDS ? value * 1000 : value)
      : new Date(typeof value === 'string' && !HAS_ZONE.test(value) ? `${value}Z` : String(value));
  return time.getTime() >= FIRST_TIME && time.getTime() <= Date.now() + MAX_AHEAD_MS ? time : null;
}

/** The payload of a stored delivery, as in `ReadDelivery`. */
export function mapStoredDelivery(body: Buffer, mapping: OrderMapping, idPrefix: string): ReadDelivery['payload'] {
  return mapDelivery(body, tryToParse(body), mapping, idPrefix);
}

function mapDelivery(
  body: Buffer,
  document: unknown,
  mapping: OrderMapping,
  idPrefix: string,
): ReadDelivery['payload'] {
  const mapped = mapWithEmpty(document, mapping);
  const { source_order_id: platformId } = mapped;
  if (typeof platformId !== 'string' || sourceOrderIdErrors(platformId, '').length > 0) return null;
  const source_order_id = storedOrderId(idPrefix, platformId);
  if (sourceOrderIdErrors(source_order_id, '').length > 0) return null;
  // The number is the platform's. Without one, it would be the stored id.
  const payload = { ...mapped, source_order_id, order_number: mapped.order_number ?? platformId };
  if (Buffer.byteLength(JSON.stringify(payload)) > body.length + MAX_ADDED_BYTES) return null;
  return payload;
}

/** The kind of a delivery whose mapping says whether the order is paid; `kind` is that by its content and its topic. */
export function kindOfMapped(
  kind: DeliveryKind,
  payload: ReadDelivery['payload'],
  { waitUntilPaid }: Pick<SourceSettings, 'waitUntilPaid'>,
): DeliveryKind {
  if (kind !== 'order' || !waitUntilPaid) return kind;
  return readTextField('payment_state', payload?.payment_state, new WarningList()) === 'unpaid' ? 'unpaid' : kind;
}

function tryToParse(body: Buffer): unknown {
  try {
    return parseDelivery(body);
  } catch {
    return undefined;
  }
}
