import { type Database, releaseLease } from '@orders/database';

/** Leases on their way back. */
export interface LeaseReleaser {
  /** Gives receipts back after an outage, so that the lease need not run out and no crash is suspected. Never fails; tries until it can. */
  release(leaseId: string, receiptIds: readonly string[]): void;
  /** Tries a last time. */
  close(): Promise<void>;
}

const AGAIN_MS = 500;

/** Gives leases back to this database, at once where it answers and else every half second until it does. */
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

  function attempt(): void {
    timer = undefined;
    releaseAll().catch(() => {
      if (!closed) timer ??= setTimeout(attempt, AGAIN_MS);
    });
  }

  return {
    release(leaseId, receiptIds) {
      pending.set(leaseId, receiptIds);
      if (!timer) attempt();
    },
    async close() {
      closed = true;
      clearTimeout(timer);
      await releaseAll().catch(() => {});
    },
  };
}
