import type { Findings } from './findings.ts';
import type { Sender } from './ledger.ts';

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
