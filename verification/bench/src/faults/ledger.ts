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

/** An order that its sender cancels. */
export interface CancelTarget {
  sender: Sender;
  sourceOrderId: string;
}

/** The reply to a cancellation. */
export interface CancelReply {
  outcome: 'cancelled' | 'requested' | 'held' | 'archived';
  orderId: number | null;
}

export interface CancellationEntry extends CancelTarget {
  /** Null until a request was answered. */
  reply: CancelReply | null;
}

/** The replies to all cancellations. Like the ledger of orders, it shares no code with the service. */
export type CancellationLedger = ReturnType<typeof createCancellationLedger>;

export function createCancellationLedger(findings: Findings) {
  const entries = new Map<string, CancellationEntry>();
  return {
    /** One per account and `source_order_id`, from the first attempt on. */
    entries: (): CancellationEntry[] => [...entries.values()],
    /**
     * Call it before each attempt.
     *
     * @returns a function that enters the reply, and returns whether it is the first one.
     */
    begin({ sender, sourceOrderId }: CancelTarget): (reply: CancelReply) => boolean {
      const key = `${sender.accountId} ${sourceOrderId}`;
      const entry: CancellationEntry = entries.get(key) ?? { sender, sourceOrderId, reply: null };
      entries.set(key, entry);
      const before = entry.reply;
      return (reply) => {
        const latest = entry.reply;
        // The replies to concurrent requests may arrive in the other order.
        const isOvertaken = latest !== null && mayFollow(reply, latest);
        const isAllowed = latest === null || isOvertaken || mayFollow(latest, reply);
        if (!isAllowed || (before && !mayFollow(before, reply))) {
          const detail = [before, latest, reply].map((one) => JSON.stringify(one)).join(', ');
          findings.add({ name: 'outcome-changed', id: `account ${key}`, detail });
        }
        if (!isOvertaken) entry.reply = reply;
        return latest === null;
      };
    },
  };
}

function mayFollow(earlier: CancelReply, later: CancelReply): boolean {
  if (earlier.outcome === 'held' && later.outcome === 'cancelled') return true;
  return earlier.outcome === later.outcome && earlier.orderId === later.orderId;
}

/** An event as the feed shows it; only the members that are verified. */
export interface FeedEvent {
  id: string;
  type: string;
  data: {
    sequence: number;
    receipt_id: string;
    source_order_id: string;
    order_id: number | null;
    duplicate_of?: string;
  };
}

/** A page of the feed. */
export interface FeedPage {
  events: FeedEvent[];
  next: string;
  more: boolean;
}

/** The events that were read of the feeds. Like the ledger of orders, it shares no code with the service. */
export type EventLedger = ReturnType<typeof createEventLedger>;

export function createEventLedger(findings: Findings) {
  const byAccount = new Map<number, FeedEvent[]>();
  const ids = new Set<string>();
  const earlyIds = new Set<string>();

  function knownOf(accountId: number): FeedEvent[] {
    const known = byAccount.get(accountId) ?? [];
    byAccount.set(accountId, known);
    return known;
  }

  return {
    /** The events of an account, in the order in which they were read for the first time. */
    eventsOf: (accountId: number): readonly FeedEvent[] => knownOf(accountId),
    /** Ids of the confirmations that were read before dispatching could see the order. */
    earlyIds,
    /**
     * Call it before each request of a page, also of one that was read before.
     *
     * @param after the sequence in its cursor, at most the number of known events.
     * @returns a function that enters the page, and returns the events that are new.
     */
    begin(accountId: number, after: number): (page: FeedPage) => FeedEvent[] {
      const known = knownOf(accountId);
      const lastBefore = known.length;
      return ({ events, next, more }) => {
        const fresh: FeedEvent[] = [];
        let last = after;
        for (const event of events) {
          const { sequence } = event.data;
          const id = `account ${accountId} ${sequence}`;
          if (sequence !== last + 1) {
            findings.add({ name: 'event-gap', id, detail: `after ${last}` });
            return fresh;
          }
          last = sequence;
          const earlier = known[sequence - 1];
          if (!earlier) {
            if (ids.has(event.id)) findings.add({ name: 'event-doubled', id: event.id, detail: id });
            ids.add(event.id);
            known.push(event);
            fresh.push(event);
          } else if (JSON.stringify(earlier) !== JSON.stringify(event)) {
            findings.add({ name: 'event-changed', id, detail: `${earlier.id} ${event.id}` });
          }
        }
        if (last < lastBefore && !more) findings.add({ name: 'event-gone', id: `account ${accountId} ${last + 1}` });
        if (next !== String(last) || (more && events.length === 0)) {
          const detail = `${events.length} events, next ${next}`;
          findings.add({ name: 'event-cursor-wrong', id: `account ${accountId} after ${after}`, detail });
        }
        return fresh;
      };
    },
  };
}
