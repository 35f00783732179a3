import { absentFields, type SentOrder } from './absent-fields.ts';
import { readAddress } from './normalize/address.ts';
import { readCustomer } from './normalize/customer.ts';
import { readItems } from './normalize/items.ts';
import type { JsonObject } from './normalize/json-object.ts';
import { LIMITS } from './normalize/limits.ts';
import { readMoney } from './normalize/money/read-money.ts';
import { inferEmirate } from './normalize/place/infer-emirate.ts';
import { isEmirateMissing, readEmirate } from './normalize/place/read-emirate.ts';
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
  const { rest, ...reading } = readEmirate(payload.emirate, warnings);
  const area = readText(payload.area, '/area', LIMITS.area, warnings) ?? rest;
  const inferred = isEmirateMissing(reading) ? inferEmirate(area, address, payload.address, warnings) : undefined;
  const emirate = inferred ? { emirate: inferred.name, emirate_code: inferred.code } : reading;
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
