import type { Database } from '@orders/database/connect.ts';
import { run } from '@orders/database/run.ts';
import { cachedRead } from '@orders/runtime/concurrency/cached-read.ts';
import type { Registry } from '@orders/runtime/observability/metrics.ts';
import { exposeGauge } from './metrics.ts';

const COUNT = {
  name: 'count-expiring-keys',
  text: `
select count(*)::int as count from api_keys
where lifetime_seconds is not null and revoked_at is null
  and expires_at > now() and expires_at < now() + interval '3 days' and last_used_at > now() - interval '7 days'`,
};

/** The number of API keys that end within 3 days, were used in the last 7 days, and are not replaced. */
async function countExpiringKeys(database: Database): Promise<number> {
  const [row] = await run<{ count: number }>(database, COUNT, []);
  return row?.count ?? 0;
}

const TIMES = { everyMs: 60_000, timeoutMs: 2000 };

/** Gauge of the API keys in use that expire within 3 days. */
export function exposeExpiringKeys(registry: Registry, database: Database): void {
  exposeGauge(
    registry,
    'intake_expiring_api_keys',
    'API keys that were used in the last 7 days, expire within 3 days, and are not replaced',
    cachedRead(() => countExpiringKeys(database), TIMES),
  );
}
