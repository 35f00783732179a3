import type { Database } from '@orders/database/connect.ts';
import { releaseLease } from './receipts/claim-receipts.ts';

/** Releases leases; while Postgres is unavailable, it tries again until it succeeds. */
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
  const pending = new Map<string, readonly string[]>();
  let timer: NodeJS.Timeout | undefined;
  let closed = false;

  async function releaseAll(): Promise<void> {
    for (const [leaseId, receiptIds] of pending) {
      await releaseLease(database, receiptIds, leaseId);
      pending.delete(leaseId);
    }
  }

  async function attempt(): Promise<void> {
    timer = undefined;
    await releaseAll().catch(() => {
      if (!closed) timer ??= setTimeout(attempt, RETRY_INTERVAL_MS);
    });
  }

  return {
    async release(leaseId, receiptIds) {
      if (leaseId === null) return;
      pending.set(leaseId, receiptIds);
      if (!timer) await attempt();
    },
    async close() {
      closed = true;
      clearTimeout(timer);
      await releaseAll().catch(() => {});
    },
  };
}
