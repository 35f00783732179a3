import type { Findings } from './findings.ts';

/** An account with its credentials. */
export interface Sender {
  accountId: number;
  apiKey: string;
  signingSecret: string;
  /** The id of a source, whose secret is the signing secret. */
  sourceId: string;
  /** Whether its events are enabled. */
  hasEvents: boolean;
}

/** An order that a client may send several times. */
export interface Order {
  sender: Sender;
  sourceOrderId: string;
  idempotencyKey: string | null;
  /** Determines the body. */
  number: number;
  /** Whether the database rejects it. */
  isPoison: boolean;
}

/** A receipt that a 202 named. */
export interface Accepted {
  order: Order;
  /** Whether some reply named it as a new receipt, not as that of an earlier request. */
  isOwnReceipt: boolean;
}

/** The replies that clients received. It is the only independent record, so it shares no code with the service. */
export type Ledger = ReturnType<typeof createLedger>;

export function createLedger(findings: Findings) {
  const accepted = new Map<string, Accepted>();
  const namedByKey = new Map<string, string>();
  return {
    /** By receipt id. */
    accepted,
    enter(order: Order, { receiptId, isReplay }: { receiptId: string; isReplay: boolean }): void {
      const known = accepted.get(receiptId);
      const isForeign = known !== undefined && !isSame(known.order, order);
      if (isForeign || (known?.isOwnReceipt && !isReplay) || (isReplay && order.idempotencyKey === null)) {
        findings.add({ name: 'receipt-named-twice', id: receiptId, detail: order.sourceOrderId });
      }
      accepted.set(receiptId, {
        order: known?.order ?? order,
        isOwnReceipt: (known?.isOwnReceipt ?? false) || !isReplay,
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
