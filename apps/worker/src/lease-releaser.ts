import type { Database } from '@orders/database/connect.ts';
import { releaseLease } from './receipts/claim-receipts.ts';

/** Releases leases; while Postgres is unavailable or others lock the receipts, it tries again until it succeeds. */
export interface LeaseReleaser {
  /**
   * Releases receipts after a failure, so that nobody waits for the lease to expire and no crash is counted. Never fails: after the first
   * attempt it retries in the background until it succeeds. A null lease is ignored.
   */
  release(leaseId: string | null, receiptIds: readonly string[]): Promise<void>;
  /** Tries one last time. */
  close(): Promise<void>;
}

const RETRY_INTERVAL_MS = 500;

export function createLeaseReleaser(database: Database): LeaseReleaser {
  const pending = new Map<string, ReadonlySet<string>>();
  let timer: NodeJS.Timeout | undefined;
  let isOutage = false;
  let closed = false;

  async function attempt(leaseIds: readonly string[]): Promise<void> {
    try {
      for (const leaseId of leaseIds) {
        const receiptIds = pending.get(leaseId) ?? new Set<string>();
        const left = await releaseLease(database, [...receiptIds], leaseId);
        // Unless more were added meanwhile.
        if (left.length === 0 && pending.get(leaseId) === receiptIds) pending.delete(leaseId);
      }
      isOutage = false;
    } catch {
      isOutage = true;
    }
    if (pending.size > 0 && !closed) timer ??= setTimeout(retryAll, RETRY_INTERVAL_MS);
  }

  function retryAll(): void {
    timer = undefined;
    void attempt([...pending.keys()]);
  }

  return {
    async release(leaseId, receiptIds) {
      if (leaseId === null) return;
      pending.set(leaseId, new Set([...(pending.get(leaseId) ?? []), ...receiptIds]));
      if (!isOutage) await attempt([leaseId]);
    },
    async close() {
      closed = true;
      clearTimeout(timer);
      await attempt([...pending.keys()]);
    },
  };
}
