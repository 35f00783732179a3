import { backoffMs, pause } from './abort.ts';
import { type Call, call, requestedPauseMs } from './call.ts';
import { OrdersError } from './errors.ts';
import { type Connection, type EventPageOptions, type EventsOptions, preferWait } from './options.ts';
import { readEventPage } from './successes.ts';
import type { EventPage, OrdersEvent } from './types.ts';

type Limits = Pick<Call<EventPage>, 'timeoutMs' | 'maxRetries'>;

const MAX_PAGE = 1000;
const MAX_WAIT_SECONDS = 30;
/** A wait that ended after a smaller share of its time was cut short. */
const WAIT_SHARE = 0.8;

/** Requests one page. @throws {TypeError} for invalid options; as `call`. */
export async function requestEvents(
  connection: Connection,
  { after, limit, wait = 0, signal }: Omit<EventPageOptions, keyof Limits>,
  { timeoutMs, maxRetries }: Limits,
): Promise<EventPage> {
  const query = new URLSearchParams();
  const cursor = readCursor(after);
  if (cursor !== null) query.set('after', cursor);
  if (limit !== undefined) query.set('limit', readLimit(limit));
  const Prefer = preferWait(wait).join();
  return call(connection, {
    method: 'GET',
    path: `/ingest/events${query.size > 0 ? `?${query}` : ''}`,
    headers: wait > 0 ? { Prefer } : {},
    readSuccess: readEventPage,
    waitSeconds: wait,
    timeoutMs: timeoutMs + wait * 1000,
    maxRetries,
    signal,
  });
}

/** Yields events one by one, and waits for new ones. Temporary failures only delay it. */
export async function* followEvents(
  connection: Connection,
  { after, signal }: EventsOptions,
  timeoutMs: number,
): AsyncGenerator<OrdersEvent, void, undefined> {
  const page = { limit: MAX_PAGE, wait: MAX_WAIT_SECONDS, signal };
  const limits = { timeoutMs, maxRetries: 0 };
  let cursor = readCursor(after);
  for (let early = 0; ; ) {
    const requestedAt = performance.now();
    const request = () => requestEvents(connection, { ...page, after: cursor }, limits);
    const { events, next } = await untilReply(request, signal);
    for (const event of events) {
      signal?.throwIfAborted();
      yield event;
    }
    cursor = next;
    // A service that drains, or has too many waits, replies early.
    const hasWaited = performance.now() - requestedAt >= MAX_WAIT_SECONDS * 1000 * WAIT_SHARE;
    if (events.length > 0 || hasWaited) early = 0;
    else await pause(backoffMs(early++), signal);
  }
}

/** Repeats a request through an outage, however long. */
async function untilReply<Reply>(request: () => Promise<Reply>, signal: AbortSignal | undefined): Promise<Reply> {
  for (let failures = 0; ; failures++) {
    try {
      return await request();
    } catch (error) {
      if (!(error instanceof OrdersError && error.isRetryable)) throw error;
      await pause(backoffMs(failures) + requestedPauseMs(error), signal);
    }
  }
}

function readCursor(after: EventsOptions['after']): string | null {
  if (after === undefined || after === null) return null;
  if (/^(\d{1,15}|newest)$/.test(String(after))) return String(after);
  throw new TypeError('after must be the `next` of a page, the `sequence` of an event, or "newest".');
}

function readLimit(limit: number): string {
  if (Number.isInteger(limit) && limit >= 1 && limit <= MAX_PAGE) return String(limit);
  throw new TypeError(`limit must be a whole number from 1 to ${MAX_PAGE}.`);
}
