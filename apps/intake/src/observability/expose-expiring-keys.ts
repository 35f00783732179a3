import type { Database } from '@orders/database/connect.ts';
import { countExpiringKeys } from './count-expiring-keys.ts';
import { cachedRead } from '@orders/runtime/concurrency/cached-read.ts';
import type { Registry } from '@orders/runtime/observability/metrics.ts';
import { exposeGauge } from './expose-gauge.ts';

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
