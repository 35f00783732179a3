import { setTimeout as sleep } from 'node:timers/promises';
import { openKnex } from '@orders/test-services/open-knex.ts';
import { createCounter } from './counter.ts';
import type { Findings } from './findings.ts';
import type { EventLedger, FeedEvent, FeedPage, Sender } from './ledger.ts';
import { pick, type Random } from './random.ts';
import { askEvents, reportRefusal } from './request.ts';
import { type Patience, waitUntil } from './wait-until.ts';

const LIMITS = [1, 10, 100, 1000] as const;
const MAX_LIMIT = 1000;
const READ_AGAIN_SHARE = 0.2;
const WAIT_SHARE = 0.5;
const RETRY_MS = 100;

/** Reads feeds page by page, like a client, and enters what it reads. */
type FeedReader = ReturnType<typeof createFeedReader>;

/**
 * @param options `findDispatchable` returns which of these orders `dispatchable_orders` shows, or null if it cannot be read now. Each
 * confirmation that was read is compared with it at once.
 */
function createFeedReader(options: {
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

/** Clients that follow the feeds of all accounts with events, through all faults. */
export type EventFollower = ReturnType<typeof startEventFollower>;

const POLL_INTERVAL_MS = 100;
const TIMEOUT_MS = 2000;

export function startEventFollower(options: {
  url: string;
  urls: readonly string[];
  senders: readonly Sender[];
  events: EventLedger;
  findings: Findings;
  random: Random;
}) {
  const { url, urls, events, findings, random } = options;
  const senders = options.senders.filter(({ hasEvents }) => hasEvents);
  const knex = openKnex({ url, poolSize: senders.length, prepared: true, queryTimeout: TIMEOUT_MS });
  const readAgainTo = new Map<number, number>();
  const counter = createCounter();
  let isFollowing = true;

  async function findDispatchable(accountId: number, orderIds: number[]): Promise<Set<number> | null> {
    const shown = knex('dispatchable_orders').where({ account_id: accountId }).whereIn('order_id', orderIds);
    return shown.pluck('order_id').then(
      (ids) => new Set(ids.map(Number)),
      () => null,
    );
  }

  /** Another reader of the same feeds, which enters what it reads elsewhere. */
  const createReader = (into: EventLedger, foundIn: Findings): FeedReader =>
    createFeedReader({ events: into, findings: foundIn, urls, random, findDispatchable, count: counter.add });
  const reader = createReader(events, findings);
  const lastOf = (accountId: number) => events.eventsOf(accountId).length;

  async function follow(sender: Sender): Promise<void> {
    while (isFollowing) {
      const page = await reader.readPage(sender, lastOf(sender.accountId));
      if (!page?.more) await sleep(POLL_INTERVAL_MS);
    }
  }

  const work = senders.map(follow);
  return {
    createReader,
    takeCounts: counter.take,
    /** Waits until each feed was followed to the sequence of its account, by account id. @returns the accounts that were not. */
    async untilFollowed(sequences: ReadonlyMap<number, number>, patience: Patience): Promise<number[]> {
      const findBehind = () =>
        senders.flatMap(({ accountId: id }) => (lastOf(id) < (sequences.get(id) ?? 0) ? [id] : []));
      await waitUntil(() => findBehind().length === 0, patience);
      return findBehind();
    },
    /** Reads all feeds again: from where they were at the last call, or from the start. @returns the accounts that were not read to the end. */
    async readAgain(from: 'last call' | 'start', patience: Patience): Promise<number[]> {
      const unread: number[] = [];
      for (const sender of senders) {
        const { accountId } = sender;
        const after = from === 'start' ? 0 : (readAgainTo.get(accountId) ?? 0);
        readAgainTo.set(accountId, lastOf(accountId));
        if (!(await reader.readToEnd(sender, after, patience))) unread.push(accountId);
      }
      return unread;
    },
    async stop() {
      isFollowing = false;
      await Promise.all(work);
      await knex.destroy();
    },
  };
}
