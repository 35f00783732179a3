import { setTimeout as sleep } from 'node:timers/promises';
import type { EventPage } from '@orders/client';
import { backoff } from '@orders/runtime/concurrency/timers.ts';
import type { Session } from '../retry-gate.ts';

/** The width of the longest type that this version knows. */
export const TYPE_WIDTH: number = 'order.cancel_requested'.length;

export const MAX_PAGE = 1000;
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
