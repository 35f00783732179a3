import { closeDatabase, type Database, openDatabase } from '@orders/database/connect.ts';
import { isPoolBusy } from '@orders/database/database-errors.ts';
import { findReceipt } from '@orders/database/receipts/find-receipt.ts';
import { backoff } from '@orders/runtime/concurrency/timers.ts';
import type { OutageLog } from '@orders/runtime/observability/logger.ts';

/** An optional standby for look-ups: without a result, callers query the primary. */
export interface ReadReplica {
  /** @returns null if the replica is down or busy. Never throws; waits at most 1 s: half for a connection, half for the result. */
  query<Result>(run: (replica: Database) => Promise<Result>): Promise<Result | null>;
  close(): Promise<void>;
}

const TIMEOUT_MS = 500;
/** Pause between probes of a replica that is down. It doubles each time, also across outages less than `RELAPSE_MS` apart. */
const PROBE_PAUSES = { base: 2000, cap: 30_000, jitter: [1, 1] } as const;
const RELAPSE_MS = 5000;
const NO_RECEIPT = '00000000-0000-7000-8000-000000000000';

/**
 * After an error or a timeout of 0.5 s, the replica counts as down until a background probe succeeds. Finding no free connection within
 * 0.5 s does not count: it says nothing about the replica.
 */
export function openReadReplica(
  options: { url: string; poolSize: number; prepared: boolean },
  outage: OutageLog,
): ReadReplica {
  const database = openDatabase({ ...options, queryTimeout: TIMEOUT_MS, applicationName: 'orders intake' });
  let isDown = false;
  let recoveredAt = Number.NEGATIVE_INFINITY;
  let probes = 0;
  let timer: NodeJS.Timeout | undefined;

  async function probe(): Promise<void> {
    try {
      await findReceipt(database, 0, NO_RECEIPT);
      isDown = false;
      recoveredAt = performance.now();
      outage.recovered();
    } catch {
      scheduleProbe();
    }
  }

  function scheduleProbe(): void {
    if (database.pool.ending) return;
    timer = setTimeout(probe, backoff(probes, PROBE_PAUSES)).unref();
    probes += 1;
  }

  return {
    async query(run) {
      if (isDown) return null;
      try {
        return await run(database);
      } catch (error) {
        if (isPoolBusy(error)) return null;
        outage.failed(error);
        if (isDown) return null;
        isDown = true;
        if (performance.now() - recoveredAt > RELAPSE_MS) probes = 0;
        scheduleProbe();
        return null;
      }
    },
    async close() {
      clearTimeout(timer);
      await closeDatabase(database);
    },
  };
}
