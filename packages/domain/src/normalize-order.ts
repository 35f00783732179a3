import { readAddress } from './normalize/address.ts';
import { readCustomer } from './normalize/customer.ts';
import { readItems } from './normalize/items.ts';
import type { JsonObject } from './normalize/json-object.ts';
import { LIMITS } from './normalize/limits.ts';
import { readMoney } from './normalize/money/read-money.ts';
import { inferEmirate } from './normalize/place/infer-emirate.ts';
import { readEmirate, saysNoEmirate } from './normalize/place/read-emirate.ts';
import { readText } from './normalize/text.ts';
import { warnOfUnknownMembers } from './normalize/unknown-members.ts';
import { WarningList } from './normalize/warnings.ts';
import type { NormalizedOrder } from './order.ts';

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
  'delivery_instructions',
]);

/**
 * Makes the order that is stored from a payload, reading every field as well as it can be read. Pure and deterministic;
 * never throws, whatever JSON object it is given; normalizing a payload made of its own output changes nothing. What is
 * guessed, mended, inferred, cut or dropped leaves a warning; no warning repeats personal data. The rules, each with
 * examples, are in `docs/normalization.md`.
 */
export function normalizeOrder(payload: Record<string, unknown>): NormalizedOrder {
  const warnings = new WarningList();
  const source_order_id = readSourceOrderId(payload.source_order_id);
  const order_number = readOrderNumber(payload, source_order_id, warnings);
  const customer = readCustomer(payload.customer, warnings);
  const address = readAddress(payload.address, warnings);
  const { rest, ...given } = readEmirate(payload.emirate, warnings);
  const area = readText(payload.area, '/area', LIMITS.area, warnings) ?? rest;
  const inferred = saysNoEmirate(given) ? inferEmirate(area, address, payload.address, warnings) : undefined;
  const emirate = inferred ? { emirate: inferred.name, emirate_code: inferred.code } : given;
  const items = readItems(payload.items, warnings);
  const money = readMoney(payload.total, payload.currency, warnings);
  const delivery_instructions = readText(
    payload.delivery_instructions,
    '/delivery_instructions',
    LIMITS.deliveryInstructions,
    warnings,
  );
  warnOfUnknownMembers(payload, MEMBERS, '', warnings);
  const fields = { address, ...emirate, area, items, ...money, delivery_instructions };
  return { order: { source_order_id, order_number, customer, ...fields }, warnings: warnings.toArray() };
}

/** Exactly as sent: `validateOrder` has refused every id that this would change, so this only keeps the function total. */
function readSourceOrderId(value: unknown): string {
  return typeof value === 'string' ? value.replaceAll('\0', '').toWellFormed() : '';
}

/** An order number that repeats the id is left exactly like it, blanks included, as its default is. */
function readOrderNumber(payload: JsonObject, sourceOrderId: string, warnings: WarningList): string {
  const sent = payload.order_number;
  if (sent === sourceOrderId) return sourceOrderId;
  return readText(sent, '/order_number', LIMITS.orderNumber, warnings) ?? sourceOrderId;
}
