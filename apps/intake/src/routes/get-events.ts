import type { Database } from '@orders/database/connect.ts';
import { eventJson } from '@orders/domain/events.ts';
import { MAX_EVENTS } from '@orders/domain/interface-limits.ts';
import { Problem } from '@orders/domain/problems.ts';
import { readPreferences } from '@orders/http/read-headers.ts';
import { createFairQueue } from '@orders/runtime/concurrency/fair-queue.ts';
import type { Request, RequestHandler } from 'express';
import { type Waiters, waitFor, waitKey } from '../receipts/waiters.ts';
import { senderOf } from '../request-context.ts';
import { findEventLog, readEvents } from './read-events.ts';

const DEFAULT_LIMIT = 100;
/** Max concurrent reads of pages, which can be a megabyte each. */
const MAX_CONCURRENT_READS = 2;

/** `GET /ingest/events`: the account's events after a cursor, oldest first; with `Prefer: wait=N`, waits for the next one. */
export function getEvents(database: Database, waiters: Waiters<true>): RequestHandler {
  const runFairly = createFairQueue<number>(MAX_CONCURRENT_READS);
  return async (request, response) => {
    const { accountId } = senderOf(request);
    const { after: cursor, limit } = readQuery(request);
    const { wait } = readPreferences(request);
    let log = await findEnabledLog(database, accountId);
    const after = cursor ?? log.removedTo;
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
function readQuery(request: Request): { after: number | null; limit: number } {
  const { after = null, limit = String(DEFAULT_LIMIT) } = request.query;
  if (after !== null && !isWholeNumber(after)) {
    throw invalidQuery(
      '"after" must be the "next" of an earlier response, or must be left out to start at the oldest event.',
    );
  }
  if (!isWholeNumber(limit) || Number(limit) < 1 || Number(limit) > MAX_EVENTS) {
    throw invalidQuery(`"limit" must be a whole number from 1 to ${MAX_EVENTS}.`);
  }
  return { after: after === null ? null : Number(after), limit: Number(limit) };
}

/** Up to 15 digits, which a number holds exactly. */
function isWholeNumber(value: unknown): value is string {
  return typeof value === 'string' && /^\d{1,15}$/.test(value);
}

function invalidQuery(detail: string): Problem {
  return new Problem('invalid_query', { detail });
}
