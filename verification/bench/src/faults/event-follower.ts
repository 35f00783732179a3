import { setTimeout as sleep } from 'node:timers/promises';
import { openKnex } from '@orders/test-services/open-knex.ts';
import type { EventLedger } from './event-ledger.ts';
import { createFeedReader, type EventCounts, type FeedReader } from './feed-reader.ts';
import type { Findings } from './findings.ts';
import type { Sender } from './ledger.ts';
import type { Random } from './random.ts';

/** Clients that follow the feeds of all accounts with events, through all faults. */
export interface EventFollower {
  /** Waits until each feed was followed to the sequence of its account, by account id. @returns the accounts that were not. */
  untilFollowed(sequences: ReadonlyMap<number, number>, deadline: number): Promise<number[]>;
  /** Reads all feeds again: from where they were at the last call, or from the start. @returns the accounts that were not read to the end. */
  readAgain(from: 'last call' | 'start', deadline: number): Promise<number[]>;
  /** Another reader of the same feeds, which enters what it reads elsewhere. */
  createReader(events: EventLedger, findings: Findings): FeedReader;
  /** The counts since the last call. */
  takeCounts(): EventCounts;
  stop(): Promise<void>;
}

const POLL_INTERVAL_MS = 100;
const TIMEOUT_MS = 2000;

export function startEventFollower(options: {
  url: string;
  urls: readonly string[];
  senders: readonly Sender[];
  events: EventLedger;
  findings: Findings;
  random: Random;
}): EventFollower {
  const { url, urls, events, findings, random } = options;
  const senders = options.senders.filter(({ hasEvents }) => hasEvents);
  const knex = openKnex({ url, poolSize: senders.length, prepared: true, queryTimeout: TIMEOUT_MS });
  const readAgainTo = new Map<number, number>();
  let counts: EventCounts = {};
  let isFollowing = true;

  async function findDispatchable(accountId: number, orderIds: number[]): Promise<Set<number> | null> {
    const shown = knex('dispatchable_orders').where({ account_id: accountId }).whereIn('order_id', orderIds);
    return shown.pluck('order_id').then(
      (ids) => new Set(ids.map(Number)),
      () => null,
    );
  }

  function count(name: string, number: number): void {
    if (number > 0) counts[name] = (counts[name] ?? 0) + number;
  }

  const createReader = (into: EventLedger, foundIn: Findings) =>
    createFeedReader({ events: into, findings: foundIn, urls, random, findDispatchable, count });
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
    async untilFollowed(sequences, deadline) {
      const findBehind = () => [...sequences].flatMap(([id, sequence]) => (lastOf(id) < sequence ? [id] : []));
      while (findBehind().length > 0 && Date.now() < deadline) await sleep(POLL_INTERVAL_MS);
      return findBehind();
    },
    async readAgain(from, deadline) {
      const unread: number[] = [];
      for (const sender of senders) {
        const { accountId } = sender;
        const after = from === 'start' ? 0 : (readAgainTo.get(accountId) ?? 0);
        readAgainTo.set(accountId, lastOf(accountId));
        if (!(await reader.readToEnd(sender, after, deadline))) unread.push(accountId);
      }
      return unread;
    },
    createReader,
    takeCounts() {
      const taken = counts;
      counts = {};
      return taken;
    },
    async stop() {
      isFollowing = false;
      await Promise.all(work);
      await knex.destroy();
    },
  };
}
