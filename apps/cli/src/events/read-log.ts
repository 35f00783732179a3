import { setTimeout as sleep } from 'node:timers/promises';
import type { EventPage, OrdersEvent } from '@orders/client';
import { backoff } from '@orders/runtime/concurrency/timers.ts';
import type { Session } from '../retry-gate.ts';

/** The width of the longest type that this version knows. */
export const TYPE_WIDTH: number = 'order.cancel_requested'.length;

const MAX_PAGE = 1000;
/** Of a request, without its wait. */
export const LOG_TIMEOUT_MS = 15_000;
const WAIT_SECONDS = 30;
/** A reply without events before this time came early. */
const FULL_WAIT_MS = 24_000;
const BACKOFF = { base: 250, cap: 5_000 };

/**
 * Yields the pages of an account's log after a cursor, and waits for new events until the signal aborts.
 *
 * @param after undefined to start at the oldest stored event.
 */
export async function* readLog(
  { client, gate, signal }: Session,
  after: string | undefined,
): AsyncGenerator<EventPage, never> {
  let cursor = after;
  for (let early = 0; ; ) {
    const requestedAt = performance.now();
    let wait = WAIT_SECONDS;
    const page = await gate.run(() => {
      const request = client.getEvents({ limit: MAX_PAGE, wait, after: cursor, signal });
      // A retry replies at once, so that the end of an outage is known without an event.
      wait = 0;
      return request;
    });
    yield page;
    cursor = page.next;
    // A service that drains, or has too many waits, replies early.
    if (page.events.length > 0 || performance.now() - requestedAt > FULL_WAIT_MS) early = 0;
    else await sleep(backoff(early++, BACKOFF), undefined, { signal });
  }
}

/** An event as people name it. */
export type EventReference = { id: string } | { sequence: number };

const readPage = ({ client, gate, signal }: Session, after: string | number | undefined, limit: number) =>
  gate.run<EventPage>(() => client.getEvents({ after, limit, signal }));

/** The cursor behind all stored events. */
export async function newestCursor(session: Session): Promise<string> {
  return (await readPage(session, 'newest', 1)).next;
}

/**
 * Finds a stored event. The log cannot be searched, so an id is looked for in parts of it, the newest first and each twice as long as the
 * one before.
 *
 * @returns null if it is not stored.
 */
export async function findEvent(session: Session, reference: EventReference): Promise<OrdersEvent | null> {
  const oldest = await oldestCursor(session);
  const newest = Number(await newestCursor(session));
  if ('sequence' in reference) {
    const { sequence } = reference;
    if (sequence <= oldest || sequence > newest) return null;
    const [event] = (await readPage(session, sequence - 1, 1)).events;
    return event?.data.sequence === sequence ? event : null;
  }
  for (let [end, length] = [newest, MAX_PAGE]; end > oldest; length *= 2) {
    const begin = Math.max(oldest, end - length);
    for (let cursor = begin; cursor < end; ) {
      const { events, next } = await readPage(session, cursor, MAX_PAGE);
      const found = events.find(({ id }) => id === reference.id);
      if (found) return found;
      if (events.length === 0) break;
      cursor = Number(next);
    }
    end = begin;
  }
  return null;
}

/** The cursor before the first event that happened at this time or later. Sequences follow the times, but for seconds. */
export async function cursorAt(session: Session, time: number): Promise<string> {
  let before = await oldestCursor(session);
  let after = Number(await newestCursor(session));
  while (before < after) {
    const middle = Math.floor((before + after) / 2);
    const [event] = (await readPage(session, middle, 1)).events;
    if (event && Date.parse(event.timestamp) < time) before = event.data.sequence;
    else after = middle;
  }
  return String(after);
}

/** The cursor before the oldest stored event. */
async function oldestCursor(session: Session): Promise<number> {
  const { events, next } = await readPage(session, undefined, 1);
  return events[0] ? events[0].data.sequence - 1 : Number(next);
}
