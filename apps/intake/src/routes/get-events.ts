import type { Database } from '@orders/database/connect.ts';
import { eventJson } from '@orders/domain/events.ts';
import { MAX_EVENTS } from '@orders/domain/interface-limits.ts';
import { Problem } from '@orders/domain/problems.ts';
import { readPreferences } from '@orders/http/read-headers.ts';
import { createFairQueue } from '@orders/runtime/concurrency/fair-sharing.ts';
import type { Request, RequestHandler } from 'express';
import { senderOf } from '../request-context.ts';
import { findEventLog, findNewestEvents, readEvents } from './read-events.ts';
import { createWaiters, type Waiters, waitFor } from './waiters.ts';

const DEFAULT_LIMIT = 100;
/** The cursor of those who want no stored events. */
const NEWEST = 'newest';
/** Max concurrent reads of pages, which can be a megabyte each. */
const MAX_CONCURRENT_READS = 2;

/** The key of a wait for an account's first event after a sequence. */
const waitKey = (accountId: number, after: number) => `${accountId} ${after}`;

/** Waiters for events, by `waitKey`. */
export function createEventWaiters(database: Database): Waiters<true> {
  return createWaiters(async (keys) => {
    const waits = keys.map((key) => ({ key, numbers: key.split(' ').map(Number) as [number, number] }));
    const newest = await findNewestEvents(database, [...new Set(waits.map(({ numbers: [accountId] }) => accountId))]);
    // An account that is missing here has disabled its log: its wait ends, and the route replies 409.
    return waits
      .filter(({ numbers: [accountId, after] }) => (newest.get(accountId) ?? Number.POSITIVE_INFINITY) > after)
      .map(({ key }) => [key, true] as const);
  });
}

/** `GET /ingest/events`: the account's events after a cursor, oldest first; with `Prefer: wait=N`, waits for the next one. */
export function getEvents(database: Database, waiters: Waiters<true>): RequestHandler {
  const runFairly = createFairQueue<number>(MAX_CONCURRENT_READS);
  return async (request, response) => {
    const { accountId } = senderOf(request);
    const { after: cursor, limit } = readQuery(request);
    const { wait } = readPreferences(request);
    let log = await findEnabledLog(database, accountId);
    const after = cursor === NEWEST ? log.newestStoredSequence : (cursor ?? log.removedTo);
    if (after < log.removedTo) throw new Problem('cursor_expired');
    if (after > log.lastAssignedSequence) {
      throw invalidQuery('"after" is a cursor that this account has not been given.');
    }
    if (wait !== null) {
      const hasEvents = log.newestStoredSequence > after;
      if (hasEvents || (await waitFor(waiters, response, waitKey(accountId, after), wait))) {
        response.set('Preference-Applied', `wait=${wait}`);
      }
      if (!hasEvents) log = await findEnabledLog(database, accountId);
    }
    const events =
      log.newestStoredSequence > after
        ? await runFairly(accountId, () => readEvents(database, accountId, after, limit))
        : [];
    // Events can be removed because of their age after the check above.
    if (cursor !== null && log.newestStoredSequence > after && events[0]?.sequence !== after + 1) {
      const { removedTo } = await findEnabledLog(database, accountId);
      if (after < removedTo) throw new Problem('cursor_expired');
    }
    const next = events.at(-1)?.sequence ?? after;
    response.json({ events: events.map(eventJson), next: String(next), more: next < log.newestStoredSequence });
  };
}

async function findEnabledLog(database: Database, accountId: number) {
  const log = await findEventLog(database, accountId);
  if (!log?.isEnabled) throw new Problem('events_disabled');
  return log;
}

/** @throws {Problem} `invalid_query`. */
function readQuery(request: Request): { after: number | typeof NEWEST | null; limit: number } {
  const { after = null, limit = String(DEFAULT_LIMIT) } = request.query;
  if (after !== null && after !== NEWEST && !isWholeNumber(after)) {
    throw invalidQuery(
      '"after" must be the "next" of an earlier response, or "newest", or must be left out to start at the oldest event.',
    );
  }
  if (!isWholeNumber(limit) || Number(limit) < 1 || Number(limit) > MAX_EVENTS) {
    throw invalidQuery(`"limit" must be a whole number from 1 to ${MAX_EVENTS}.`);
  }
  return { after: after === null || after === NEWEST ? after : Number(after), limit: Number(limit) };
}

/** Up to 15 digits, which a number holds exactly. */
function isWholeNumber(value: unknown): value is string {
  return typeof value === 'string' && /^\d{1,15}$/.test(value);
}

function invalidQuery(detail: string): Problem {
  return new Problem('invalid_query', { detail });
}
