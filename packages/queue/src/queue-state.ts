import { setTimeout as sleep } from 'node:timers/promises';
import { withTimeout } from '@orders/runtime/concurrency/timers.ts';
import { type Producer, QueueNotPreparedError } from './open-producer.ts';

const TIMEOUT_MS = 2000;
const POLL_INTERVAL_MS = 500;
const NOT_PREPARED = 'not prepared: run orders migrate with QUEUE_URL';

/** `not prepared`: the tables of a queue on Postgres are missing, or not granted to this role. */
export type QueueState = 'ok' | 'unreachable' | typeof NOT_PREPARED;

/** Whether jobs can be added to each lane; `unreachable` when that takes more than two seconds. */
export async function readQueueState(producer: Producer): Promise<QueueState> {
  const probe = producer.probe().then(
    (): QueueState => 'ok',
    (error): QueueState => (error instanceof QueueNotPreparedError ? NOT_PREPARED : 'unreachable'),
  );
  return (await withTimeout(probe, TIMEOUT_MS)) ?? 'unreachable';
}

/**
 * Waits while the queue is not prepared, which no retry of a job can change. It does not wait for an unreachable queue.
 *
 * @param warn is called once, if it has to wait.
 * @returns false when `signal` was aborted.
 */
export async function untilQueue(
  producer: Producer,
  signal: AbortSignal,
  warn: (message: string, fields: object) => void,
): Promise<boolean> {
  for (let waits = 0; (await readQueueState(producer)) === NOT_PREPARED && !signal.aborted; waits += 1) {
    if (waits === 0) warn('not ready: this version waits for its queue', { queue: NOT_PREPARED });
    await sleep(POLL_INTERVAL_MS, null, { signal }).catch(() => {});
  }
  return !signal.aborted;
}
