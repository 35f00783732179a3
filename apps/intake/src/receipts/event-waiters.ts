import { type Database, findNewestEvents } from '@orders/database';
import { createWaiters, type Waiters } from './waiters.ts';

/** The key of a wait for an account's first event after a sequence. */
export const eventKey = (accountId: number, after: number) => `${accountId} ${after}`;

/** Waiters for events, by `eventKey`. */
export function createEventWaiters(database: Database): Waiters<true> {
  return createWaiters(async (keys) => {
    const waits = keys.map((key) => ({ key, numbers: key.split(' ').map(Number) as [number, number] }));
    const newest = await findNewestEvents(database, [...new Set(waits.map(({ numbers: [accountId] }) => accountId))]);
    // A log that was disabled meanwhile ends the wait.
    return waits
      .filter(({ numbers: [accountId, after] }) => (newest.get(accountId) ?? Number.POSITIVE_INFINITY) > after)
      .map(({ key }) => [key, true] as const);
  });
}
