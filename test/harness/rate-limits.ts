import { setRateLimit } from '@orders/database';
import { isRedisUrl } from '@orders/queue';
import type { Reply } from './api.ts';
import type { RunningIntake, Stack } from './stack.ts';
import { until } from './until.ts';

/** What a reply says is left of the rate. */
export function leftOf({ headers: { ratelimit = '' } }: Reply): number {
  return Number(/^"account";r=(\d+);t=\d+$/.exec(ratelimit)?.[1]);
}

/**
 * Waits until these intakes see each other's requests: while one has no connection to Redis yet, it counts for itself. More than once, as
 * one may have found Redis before the other. Without Redis each counts for itself for good.
 */
export async function untilTogether(stack: Stack, intakes: RunningIntake[]): Promise<void> {
  if (!isRedisUrl(stack.queue.url)) return;
  const account = await stack.account();
  await setRateLimit(stack.database.knex, account.id, { requests: 100_000, seconds: 3600 });
  await until('the intakes count together', async () => {
    const left: number[] = [];
    for (const { api } of [...intakes, ...intakes, ...intakes]) left.push(leftOf(await api.preview(account, {})));
    return left.every((count, at) => at === 0 || count === (left[at - 1] as number) - 1);
  });
}
