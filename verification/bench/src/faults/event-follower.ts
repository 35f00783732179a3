import { setTimeout as sleep } from 'node:timers/promises';
import { openKnex } from '@orders/test-services/open-knex.ts';
import { createCounter } from './counter.ts';
import type { EventLedger } from './event-ledger.ts';
import { createFeedReader, type FeedReader } from './feed-reader.ts';
import type { Findings } from './findings.ts';
import type { Sender } from './ledger.ts';
import type { Random } from './random.ts';
import { type Patience, waitUntil } from './wait-until.ts';

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
      const findBehind = () => [...sequences].flatMap(([id, sequence]) => (lastOf(id) < sequence ? [id] : []));
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
