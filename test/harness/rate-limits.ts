import { setRateLimit } from '@orders/database/accounts/accounts.ts';
import { isRedisUrl } from '@orders/queue/open-redis.ts';
import { until } from '@orders/test-services/until.ts';
import type { Reply } from './api.ts';
import type { RunningIntake, Stack } from './stack.ts';

/** The remaining quota in a reply's `RateLimit` header. */
export function leftOf({ headers: { ratelimit = '' } }: Reply): number {
  return Number(/^"account";r=(\d+);t=\d+$/.exec(ratelimit)?.[1]);
}

/**
 * Waits until these intakes share their counters: until an intake is connected to Redis, it counts alone. Without Redis, the counters are
 * never shared, and this does not wait.
 */
export async function untilCountersShared(stack: Stack, intakes: RunningIntake[]): Promise<void> {
  if (!isRedisUrl(stack.queue.url)) return;
  const account = await stack.account();
  await setRateLimit(stack.database.db, account.id, { requests: 100_000, seconds: 3600 });
  // In several rounds, as one intake can be connected before another.
  await until('the intakes share their counters', async () => {
    const left: number[] = [];
    for (const { api } of [...intakes, ...intakes, ...intakes]) left.push(leftOf(await api.preview(account, {})));
    return left.every((count, at) => at === 0 || count === (left[at - 1] as number) - 1);
  });
}
