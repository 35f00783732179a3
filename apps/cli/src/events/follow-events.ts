import { setTimeout as sleep } from 'node:timers/promises';
import { CursorExpiredError, OrdersClient } from '@orders/client';
import { backoff } from '@orders/runtime/concurrency/backoff.ts';
import type { Context } from '../context.ts';
import { Failure } from '../errors.ts';
import { createRetryGate, endOfRun } from '../send/retry-gate.ts';
import type { SenderConfig } from '../sender-config.ts';
import { describeEvent } from './describe-event.ts';

/** What to print, and from where. */
export interface FollowOptions {
  /** The sequence of the last event that is known. */
  after?: string;
  /** In milliseconds. */
  giveUpAfter: number;
  json?: boolean;
}

const TIMEOUT_MS = 15_000;
const PAGE = { limit: 1000, wait: 30 };
/** A reply without events before this time was not held. */
const HELD_MS = 24_000;
const BACKOFF = { base: 250, cap: 5_000 };

/**
 * Prints events until the command is interrupted.
 *
 * @throws {Failure} with the cursor to continue from, if the service rejects the requests, or has not replied for too long.
 */
export async function followEvents(
  { after, giveUpAfter, json }: FollowOptions,
  { url, apiKey }: SenderConfig,
  { cliContext, report }: Context,
): Promise<void> {
  const { stdout, untilInterrupted = () => new Promise<void>(() => {}) } = cliContext;
  const controller = new AbortController();
  const { signal } = controller;
  void untilInterrupted().then(() => controller.abort());
  const client = new OrdersClient({ baseUrl: url, apiKey, timeoutMs: TIMEOUT_MS, maxRetries: 0 });
  const gate = createRetryGate({ giveUpAfterMs: giveUpAfter, signal }, (wait) => {
    if (wait) report(`Waits ${Math.ceil(wait.ms / 1000)} s: ${wait.why}.`);
  });
  let cursor = after;
  const advice = () => (cursor === undefined ? '' : `Continue with --after ${cursor}.`);
  try {
    for (let early = 0; ; ) {
      const requestedAt = performance.now();
      const { events, next } = await gate.run(() => client.getEvents({ ...PAGE, after: cursor, signal }));
      for (const event of events) stdout.write(`${json ? JSON.stringify(event) : describeEvent(event)}\n`);
      cursor = next;
      // A service that drains, or has too many waits, replies early.
      if (events.length > 0 || performance.now() - requestedAt > HELD_MS) early = 0;
      else await sleep(backoff(early++, BACKOFF), undefined, { signal });
    }
  } catch (error) {
    if (!signal.aborted) throw withAdvice(error, advice());
    if (advice()) report(advice());
  }
}

function withAdvice(error: unknown, advice: string): unknown {
  if (error instanceof CursorExpiredError)
    return new Failure(
      'Events after this cursor are no longer stored (410 cursor_expired). Reconcile your open orders, and start again without --after.',
    );
  const end = endOfRun(error);
  return end instanceof Failure && advice ? new Failure(`${end.message} ${advice}`) : end;
}
