import { WARNINGS, type Warning } from './normalize/warnings.ts';
import type { Item, Order } from './order.ts';

/** Whether a person should look at a warning, or it is about a harmless, certain correction. */
export type WarningSeverity = 'check' | 'corrected';

/** Highest first: it cannot be delivered; a person should check it; something was corrected; nothing. */
export const SEVERITIES = ['blocks', 'check', 'corrected', 'none'] as const;
export type Severity = (typeof SEVERITIES)[number];

/** Reasons why an order cannot be delivered. */
export const BLOCKERS = ['no_reachable_phone', 'no_address', 'no_emirate', 'no_items'] as const;
export type Blocker = (typeof BLOCKERS)[number];

const CORRECTED: ReadonlySet<string> = new Set(
  Object.entries(WARNINGS).flatMap(([code, [, , doubt]]) => (doubt === 'corrected' ? [code] : [])),
);

/** Codes of other versions are to be checked. */
export function severityOfWarning(code: string): WarningSeverity {
  return CORRECTED.has(code) ? 'corrected' : 'check';
}

/** The warnings, each with its severity. */
export function rateWarnings(warnings: readonly Warning[]): (Warning & { severity: WarningSeverity })[] {
  return warnings.map((warning) => ({ ...warning, severity: severityOfWarning(warning.code) }));
}

/** A number in E.164, possibly with an extension. Postgres reads the same expression. */
export const REACHABLE_PHONE = '^\\+[1-9][0-9]{3,14}( ext\\. [0-9]+)?$';
const REACHABLE = new RegExp(REACHABLE_PHONE);

export function isReachable(phone: string | null): phone is string {
  return phone !== null && REACHABLE.test(phone);
}

/** What deliverability depends on. */
export interface Delivery {
  phone: string | null;
  address: string | null;
  emirateCode: string | null;
  /** Whether an item has a name or an SKU. */
  hasItems: boolean;
}

export function blockersOfDelivery({ phone, address, emirateCode, hasItems }: Delivery): Blocker[] {
  const applies: Record<Blocker, boolean> = {
    no_reachable_phone: !isReachable(phone),
    no_address: !address,
    no_emirate: !emirateCode,
    no_items: !hasItems,
  };
  return BLOCKERS.filter((blocker) => applies[blocker]);
}

/** Why an order cannot be delivered; empty if it can. */
export function blockersOf({ customer, address, emirate_code, items }: Order): Blocker[] {
  const hasItems = items.some(({ name, sku }: Item) => Boolean(name) || Boolean(sku));
  return blockersOfDelivery({ phone: customer.phone, address, emirateCode: emirate_code, hasItems });
}

/** The severity of an order by its blockers and the worst of its warnings. */
export function severityFrom(blockers: readonly Blocker[], worst: WarningSeverity | null): Severity {
  return blockers.length > 0 ? 'blocks' : (worst ?? 'none');
}

export function severityOf(order: Order, warnings: readonly { code: string }[]): Severity {
  // Somebody should ask before an order leaves that is not paid, and not paid at the door, or that the customer picks up.
  const isUnpaid = order.payment_state === 'unpaid' || order.payment_state === 'refunded';
  const isPickup = order.delivery_method === 'pickup';
  const isCheck = isUnpaid || isPickup || warnings.some(({ code }) => severityOfWarning(code) === 'check');
  return severityFrom(blockersOf(order), isCheck ? 'check' : warnings.length > 0 ? 'corrected' : null);
}
