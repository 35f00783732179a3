import type { Findings } from './findings.ts';

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
