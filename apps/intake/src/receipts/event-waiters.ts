import type { Database } from '@orders/database/connect.ts';
import { findNewestEvents } from '../routes/read-events.ts';
import { createWaiters, type Waiters } from './waiters.ts';

/** The key of a wait for an account's first event after a sequence. */
export const waitKey = (accountId: number, after: number) => `${accountId} ${after}`;

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
