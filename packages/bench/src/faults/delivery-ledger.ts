import { isDeepStrictEqual } from 'node:util';
import { Webhook } from 'standardwebhooks';
import type { FeedEvent } from './event-ledger.ts';
import type { Finding, Findings } from './findings.ts';

/** The requests that an endpoint received. Like the ledger of orders, it shares no code with the service. */
export interface DeliveryLedger {
  /**
   * Enters a complete request, however the endpoint replies.
   *
   * @returns a function that enters the delivery; call it with a 2xx reply.
   */
  enter(headers: Record<string, string>, text: string): () => void;
  /** The ids of all events that were received so far. */
  receivedIds(): string[];
  /** The events that were not delivered. */
  findMissing(events: readonly FeedEvent[]): FeedEvent[];
  /**
   * Compares what was received with the feed of the account.
   *
   * @param ids compares only these.
   */
  compare(ids: readonly string[], feed: readonly FeedEvent[]): Finding[];
  /** The counts since the last call. A delivery is a request with a 2xx reply; a repeated one is not the first of its event. */
  takeCounts(): DeliveryCounts;
}

export type DeliveryCounts = Record<'requests' | 'delivered' | 'repeated', number>;

/** @param options `secret` signs every delivery. */
export function createDeliveryLedger(options: {
  accountId: number;
  secret: string;
  findings: Findings;
}): DeliveryLedger {
  const { accountId, secret, findings } = options;
  const webhook = new Webhook(secret);
  /** The first body by event id. */
  const received = new Map<string, string>();
  const delivered = new Set<string>();
  let counts = noCounts();

  const findingId = (id: string) => `account ${accountId} ${id}`;

  return {
    enter(headers, text) {
      const id = headers['webhook-id'] ?? '';
      try {
        webhook.verify(text, headers, { jsonParse: false });
      } catch (error) {
        findings.add({ name: 'delivery-signature-invalid', id: findingId(id), detail: String(error) });
      }
      const first = received.get(id) ?? text;
      received.set(id, first);
      if (first !== text) findings.add({ name: 'delivery-differs', id: findingId(id), detail: `${first} and ${text}` });
      counts.requests += 1;
      return () => {
        counts[delivered.has(id) ? 'repeated' : 'delivered'] += 1;
        delivered.add(id);
      };
    },
    receivedIds: () => [...received.keys()],
    findMissing: (events) => events.filter(({ id }) => !delivered.has(id)),
    compare(ids, feed) {
      const events = new Map(feed.map((event) => [event.id, event]));
      return ids.flatMap((id): Finding[] => {
        const text = received.get(id) ?? '';
        const event = events.get(id);
        if (!event) return [{ name: 'delivery-unfounded', id: findingId(id), detail: text }];
        return isSame(text, event) ? [] : [{ name: 'delivery-differs', id: findingId(id), detail: text }];
      });
    },
    takeCounts() {
      const taken = counts;
      counts = noCounts();
      return taken;
    },
  };
}

const noCounts = (): DeliveryCounts => ({ requests: 0, delivered: 0, repeated: 0 });

function isSame(text: string, event: FeedEvent): boolean {
  if (text === JSON.stringify(event)) return true;
  try {
    return isDeepStrictEqual(JSON.parse(text), event);
  } catch {
    return false;
  }
}
