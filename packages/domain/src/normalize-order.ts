import { absentFields, type SentOrder } from './absent-fields.ts';
import { LIMITS } from './interface-limits.ts';
import { readCustomer } from './normalize/customer.ts';
import { readItems } from './normalize/items.ts';
import { isJsonObject, type JsonObject, parseJsonText } from './normalize/json-object.ts';
import { readMoney } from './normalize/money/read-money.ts';
import { EMIRATES, type Emirate } from './normalize/place/emirates.ts';
import {
  emiratesOf,
  isAbroad,
  isLandmark,
  type Mention,
  type Part,
  readPart,
} from './normalize/place/find-mentions.ts';
import { findPlace } from './normalize/place/find-place.ts';
import { correctEmirate, isEmirateMissing, readEmirate, splitParts } from './normalize/place/read-emirate.ts';
import { toPlaceKey } from './normalize/place/spellings.ts';
import { partsOf, readText } from './normalize/text.ts';
import { readTextField } from './normalize/text-field.ts';
import { WarningList, warnOfUnknownMembers } from './normalize/warnings.ts';
import type { NormalizedOrder } from './order.ts';
import { ofTextFields, TEXT_FIELD_NAMES } from './text-fields.ts';

/** Members of an address object with an emirate or a city, in any case, with or without underscores and hyphens. */
const PLACE_MEMBERS: ReadonlySet<string> = new Set(
  'emirate city town province state region governorate provincecode statecode'.split(' '),
);

/** Where an order goes by its area or its address, and which of them says so. */
interface Location {
  emirate: Emirate;
  pointer: '/area' | '/address';
}

/**
 * The emirate that the area or the end of the address names. Undefined unless all emirates and places mentioned there agree and none is
 * abroad.
 *
 * @param area as stored.
 * @param address as stored.
 * @param addressAsSent of an object, members such as `city` are read too.
 */
function locate(area: string | null, address: string | null, addressAsSent: unknown): Location | undefined {
  const areaParts = toParts(area);
  const addressParts = toParts(address);
  const parts = [...areaParts, ...addressParts];
  if (parts.some(isAbroad)) return undefined;
  const [emirate, ...others] = new Set([
    // The area is short, so each name in it counts, even in "Dubai - Al Ain Road".
    ...areaParts.flatMap(({ mentions }) => mentions.flatMap(({ place }) => place.emirate ?? [])),
    ...addressParts.flatMap(({ mentions }) => emiratesOf(mentions)),
    ...parts.flatMap(misspelledIn),
  ]);
  if (!emirate || others.length > 0) return undefined;
  const isInArea = areaParts.some(locatesOrder);
  const isInAddress = locatesOrder(addressParts.findLast((part) => !isUninformative(part)));
  if (!isInArea && !isInAddress && emirateOfMembers(addressAsSent) !== emirate) return undefined;
  return { emirate, pointer: isInArea ? '/area' : '/address' };
}

/**
 * Whether the area, or an address with the name of another emirate or of a place there, is elsewhere. Nearly all orders have none, so the
 * address is read only if it may.
 */
function isContradicted(code: string | null, area: string | null, address: string | null): boolean {
  if (code === null) return false;
  const isElsewhere = (located: Location | undefined) => located !== undefined && located.emirate.code !== code;
  if (area !== null && isElsewhere(locateArea(area))) return true;
  if (address === null) return false;
  if (NAMES_OF_OTHERS.get(code)?.test(address) && isElsewhere(locate(null, address, null))) return true;
  return namesPlaceElsewhere(code, area, address);
}

/** Whether a part of the address is a place in another emirate, and none in this one is mentioned: "Al Majaz 2, Building 4" is not in Dubai. */
function namesPlaceElsewhere(code: string, area: string | null, address: string): boolean {
  const isElsewhere = (part: string) => {
    const place = findPlace(toPlaceKey(part.replace(/\d+/g, '')));
    return place?.kind === 'within' && place.emirate.code !== code && !place.isPersonal;
  };
  if (!splitParts(address).some(isElsewhere)) return false;
  const mentions = [...toParts(area), ...toParts(address)].flatMap((part) => part.mentions);
  return mentions.every(({ place }) => place.kind === 'country' || (place.emirate && place.emirate.code !== code));
}

const NAMES_OF_OTHERS: ReadonlyMap<string, RegExp> = new Map(
  EMIRATES.map(({ code }) => {
    const others = EMIRATES.filter((other) => other.code !== code);
    return [code, new RegExp(others.map(({ inNames }) => inNames).join('|'), 'i')];
  }),
);

/** Areas repeat from order to order. */
const locatedAreas = new Map<string, Location | undefined>();
const MAX_LOCATED_AREAS = 2_000;

function locateArea(area: string): Location | undefined {
  if (locatedAreas.has(area)) return locatedAreas.get(area);
  const located = locate(area, null, null);
  if (locatedAreas.size >= MAX_LOCATED_AREAS) locatedAreas.clear();
  locatedAreas.set(area, located);
  return located;
}

/** What people add to an address that is no part of it: a P.O. box, a Makani number, a link to a map, when to call. */
const ADDED = [
  /\s*\bp\W{0,2}o\W{0,2}box\b/gi,
  /\b(?:https?:\/\/|www\.)\S{1,300}/gi,
  /(?:\bmakani|مكاني|مكانى)(?: (?:no|number|رقم))?[.:#\s]{0,3}[\d\s-]{5,15}/gi,
  /\b(?:please |pls |kindly )?(?:call|phone|whatsapp|tel|mob|mobile)\b[.:]?\s?(?=\+?\d|me\b|us\b|before|when|on\b)[^,،\n]{0,100}/gi,
];

function toParts(text: string | null): Part[] {
  return text === null ? [] : splitParts(ADDED.reduce((rest, added) => rest.replace(added, ','), text)).map(readPart);
}

/** A misspelled name can contradict an inference, but not support one. */
function misspelledIn(part: Part): Emirate[] {
  const emirate = correctEmirate(part.words.map(({ key }) => key).join(''));
  return emirate ? [emirate] : [];
}

/** Numbers, P.O. boxes, phones, the country, landmarks, and two-letter abbreviations, which are too ambiguous. */
function isUninformative(part: Part): boolean {
  return (
    isTooShort(part) ||
    isLandmark(part) ||
    part.words.every(({ key, place }) => /^(?:ص|ب|صب)?\d*$/.test(key) || place?.kind === 'country')
  );
}

function isTooShort(part: Part): boolean {
  const [only, ...others] = part.words.filter(({ key }) => !/^\d+$/.test(key));
  return only?.key.length === 2 && others.length === 0;
}

/** Whether a part is or ends with a name. In Arabic it must be the name: شارع الشارقة is Sharjah Street. */
function locatesOrder(part: Part | undefined): boolean {
  const isClear = ({ place, isLocation, isAtEnd, isWhole, isArabic }: Mention) =>
    place.emirate !== undefined && isLocation && (isWhole || (isAtEnd && !isArabic));
  return part !== undefined && !isTooShort(part) && part.mentions.some(isClear);
}

/**
 * The emirate in the members of an address object, where "SH" in `state` is not too short. The members agree, because the stored address
 * contains them all.
 */
function emirateOfMembers(sent: unknown): Emirate | undefined {
  const address = typeof sent === 'string' ? parseJsonText(sent) : sent;
  if (!isJsonObject(address)) return undefined;
  const parts = Object.entries(address).flatMap(([name, value]) => {
    const holdsPlace = PLACE_MEMBERS.has(name.toLowerCase().replace(/[^a-z]/g, '')) && typeof value === 'string';
    return holdsPlace ? toParts(value.slice(0, LIMITS.emirate)) : [];
  });
  return parts.flatMap(({ mentions }) => emiratesOf(mentions))[0];
}

const MEMBERS: ReadonlySet<string> = new Set([
  'source_order_id',
  'order_number',
  'customer',
  'address',
  'emirate',
  'area',
  'items',
  'total',
  'currency',
  ...TEXT_FIELD_NAMES,
]);

/**
 * Normalizes a payload to the order that is stored, with best effort for each field. Pure and deterministic; never throws for any JSON
 * object; idempotent on its own output. Each guessed, corrected, inferred, cut or dropped value leaves a warning without personal data.
 * `docs/senders/order-fields.md` has the rules with examples.
 */
export function normalizeOrder(payload: Record<string, unknown>): NormalizedOrder {
  const warnings = new WarningList();
  const source_order_id = readSourceOrderId(payload.source_order_id);
  const order_number = readOrderNumber(payload, source_order_id, warnings);
  const customer = readCustomer(payload.customer, warnings);
  const address = readAddress(payload.address, warnings);
  const reading = readEmirate(payload.emirate, warnings);
  const area =
    readText(payload.area, '/area', LIMITS.area, warnings) ?? reading.rest ?? neighbourhoodIn(payload.address);
  const isUnread = reading.isOpen || isEmirateMissing(reading);
  const inferred = isUnread ? locate(area, address, payload.address) : undefined;
  if (inferred) warnings.add(inferred.pointer, 'inferred');
  else if (isContradicted(reading.emirate_code, area, address)) warnings.add('/emirate', 'emirate_contradicted');
  const emirate = inferred
    ? { emirate: inferred.emirate.name, emirate_code: inferred.emirate.code }
    : { emirate: reading.emirate, emirate_code: reading.emirate_code };
  const items = readItems(payload.items, warnings);
  const money = readMoney(payload.total, payload.currency, warnings);
  const texts = ofTextFields((name) => readTextField(name, payload[name], warnings));
  warnOfUnknownMembers(payload, MEMBERS, '', warnings);
  const fields = { address, ...emirate, area, items, ...money, ...texts };
  return { order: { source_order_id, order_number, customer, ...fields }, warnings: warnings.toArray() };
}

/** Shopify writes the neighbourhood behind a word joiner in the second line of an address (https://github.com/Shopify/worldwide). */
function neighbourhoodIn(address: unknown): string | null {
  const [, neighbourhood] = typeof address === 'string' ? (/\u2060([^,\n\u2060]{2,200})/.exec(address) ?? []) : [];
  return neighbourhood?.trim() || null;
}

/** The same, with what the payload does not mention, to compare it with an order that exists. */
export function normalizeSent(payload: Record<string, unknown>): NormalizedOrder & SentOrder {
  return { ...normalizeOrder(payload), absent: absentFields(payload) };
}

/** `validateOrder` has rejected every id that this would change; it only keeps the function total. */
function readSourceOrderId(value: unknown): string {
  return typeof value === 'string' ? value.replaceAll('\0', '').toWellFormed() : '';
}

/** An order number equal to the id stays exactly as it is, spaces included, like the default. */
function readOrderNumber(payload: JsonObject, sourceOrderId: string, warnings: WarningList): string {
  const sent = payload.order_number;
  if (sent === sourceOrderId) return sourceOrderId;
  return readText(sent, '/order_number', LIMITS.orderNumber, warnings) ?? sourceOrderId;
}

const POINTER = '/address';

/** Reads the address: a string, or an object or list whose parts are joined, also as JSON in a string. */
function readAddress(sent: unknown, warnings: WarningList): string | null {
  const parsed = typeof sent === 'string' ? parseJsonText(sent) : undefined;
  if (parsed) warnings.add(POINTER, 'json_as_text');
  const value = parsed ?? sent;
  if (typeof value !== 'object' || value === null) return readText(value, POINTER, LIMITS.address, warnings);
  warnings.add(POINTER, 'address_joined');
  return readText(partsOf(value).join(', '), POINTER, LIMITS.address, warnings);
}
