import { setTimeout as sleep } from 'node:timers/promises';
import type { EventLedger, FeedEvent, FeedPage } from './event-ledger.ts';
import type { Findings } from './findings.ts';
import type { Sender } from './ledger.ts';
import { pick, type Random } from './random.ts';
import { askEvents, reportRefusal } from './request.ts';
import type { Patience } from './wait-until.ts';

const LIMITS = [1, 10, 100, 1000] as const;
const MAX_LIMIT = 1000;
const READ_AGAIN_SHARE = 0.2;
const WAIT_SHARE = 0.5;
const RETRY_MS = 100;

/** Reads feeds page by page, like a client, and enters what it reads. */
export type FeedReader = ReturnType<typeof createFeedReader>;

/**
 * @param options `findDispatchable` returns which of these orders `dispatchable_orders` shows, or null if it cannot be read now. Each
 * confirmation that was read is compared with it at once.
 */
export function createFeedReader(options: {
  events: EventLedger;
  findings: Findings;
  urls: readonly string[];
  random: Random;
  findDispatchable: (accountId: number, orderIds: number[]) => Promise<Set<number> | null>;
  count: (name: string, number: number) => void;
}) {
  const { events, findings, urls, random, findDispatchable, count } = options;

  async function read(sender: Sender, after: number, limit: number): Promise<FeedPage | null> {
    const wait = random() < WAIT_SHARE;
    const enter = events.begin(sender.accountId, after);
    const reply = await askEvents(pick(random, urls), sender.apiKey, { after, limit, wait });
    if (reply.status !== 200) {
      reportRefusal(findings, reply);
      return null;
    }
    const fresh = enter(reply.body);
    count('read', fresh.length);
    await verifyConfirmations(sender, fresh);
    return reply.body;
  }

  async function verifyConfirmations({ accountId }: Sender, fresh: readonly FeedEvent[]): Promise<void> {
    const confirmed = fresh.filter(({ type }) => type === 'order.confirmed');
    if (confirmed.length === 0) return;
    const shown = await findDispatchable(
      accountId,
      confirmed.map(({ data }) => Number(data.order_id)),
    );
    if (!shown) return;
    count('confirmations compared', confirmed.length);
    for (const { id, data } of confirmed) if (!shown.has(Number(data.order_id))) events.earlyIds.add(id);
  }

  return {
    /** @returns null if there was no reply with a page. */
    async readPage(sender: Sender, after: number): Promise<FeedPage | null> {
      const limit = pick(random, LIMITS);
      const page = await read(sender, after, limit);
      if (page && random() < READ_AGAIN_SHARE && (await read(sender, after, limit))) count('pages read again', 1);
      return page;
    },
    /** Reads from a sequence to the end of the feed. @returns false if the patience ended before. */
    async readToEnd(sender: Sender, after: number, patience: Patience): Promise<boolean> {
      let last = after;
      while (patience.polls > 0) {
        const page = await read(sender, last, MAX_LIMIT);
        if (!page) {
          patience.polls -= 1;
          await sleep(RETRY_MS);
        }
        // The cursor of a damaged page may not advance.
        else if (!page.more || Number(page.next) <= last) return true;
        else last = Number(page.next);
      }
      return false;
    },
  };
}
