import type { Findings } from './findings.ts';

/** An account that sends. */
export interface Sender {
  accountId: number;
  apiKey: string;
  signingSecret: string;
}

/** An order as a client has it, to be sent as often as need be. */
export interface Order {
  sender: Sender;
  sourceOrderId: string;
  idempotencyKey: string | null;
  /** Says which body it is. */
  number: number;
  /** Whether the database refuses it. */
  isPoison: boolean;
}

/** A receipt that a 202 named. */
export interface Accepted {
  order: Order;
  /** Whether some reply named it as this request's own, and not as that of an earlier one. */
  isFirsthand: boolean;
}

/** What the clients were told; the only witness of it, so nothing of the service has a hand in it. */
export interface Ledger {
  /** By the receipt's id. */
  accepted: ReadonlyMap<string, Accepted>;
  enter(order: Order, reply: { receiptId: string; isReplay: boolean }): void;
}

export function createLedger(findings: Findings): Ledger {
  const accepted = new Map<string, Accepted>();
  const namedByKey = new Map<string, string>();
  return {
    accepted,
    enter(order, { receiptId, isReplay }) {
      const known = accepted.get(receiptId);
      const isAnothers = known !== undefined && !isSame(known.order, order);
      if (isAnothers || (known?.isFirsthand && !isReplay) || (isReplay && order.idempotencyKey === null)) {
        findings.add({ name: 'receipt-named-twice', id: receiptId, detail: order.sourceOrderId });
      }
      accepted.set(receiptId, {
        order: known?.order ?? order,
        isFirsthand: (known?.isFirsthand ?? false) || !isReplay,
      });
      if (order.idempotencyKey === null) return;
      const key = `${order.sender.accountId} ${order.idempotencyKey}`;
      const named = namedByKey.get(key) ?? receiptId;
      namedByKey.set(key, named);
      if (named !== receiptId) {
        findings.add({ name: 'key-named-two', id: `account ${key}`, detail: `${named} and ${receiptId}` });
      }
    },
  };
}

function isSame(one: Order, other: Order): boolean {
  return (
    one.sender.accountId === other.sender.accountId &&
    one.sourceOrderId === other.sourceOrderId &&
    one.idempotencyKey === other.idempotencyKey
  );
}
