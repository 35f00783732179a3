import { LRUCache } from 'lru-cache';
import type { MissedCount } from './record-rejected.ts';

/** Limits how many rejections are recorded, by token buckets: one per account and one for all. Counts the missed ones, which get no row. */
export interface RejectionBudget {
  /**
   * Takes a token for the account's next rejection.
   *
   * @returns the number of rejections missed since the last token; null if there is no token, which counts as one more missed.
   */
  take(accountId: number): { missed: number } | null;
  /** Counts a rejection that gets no row for another reason than the rate. @returns null, like `take` without a token. */
  miss(accountId: number): null;
  /** Takes the missed counts of accounts without a recorded rejection for `quietMs` milliseconds. */
  takeMissed(quietMs: number): MissedCount[];
  /** Adds a count that could not be written. */
  returnMissed(accountId: number, missed: number): void;
  hasMissed(): boolean;
}

/** The burst suits a developer who tries things out. */
const PER_ACCOUNT = { burst: 10, perSecond: 2 };
/** Limits the CPU time of diagnosing causes, which accepted orders need. */
const OVERALL = { burst: 50, perSecond: 20 };
const MAX_ACCOUNTS = 10_000;

interface Bucket {
  tokens: number;
  /** Milliseconds. */
  refilledAt: number;
  /** When the last token was taken, in milliseconds. */
  takenAt: number;
  missed: number;
}

/** @param now a monotonic clock in milliseconds. */
export function createRejectionBudget(now: () => number = () => performance.now()): RejectionBudget {
  const full = (burst: number): Bucket => ({ tokens: burst, refilledAt: now(), takenAt: -Infinity, missed: 0 });
  const overall = full(OVERALL.burst);
  const accounts = new LRUCache<number, Bucket>({ max: MAX_ACCOUNTS });

  function bucketOf(accountId: number): Bucket {
    const bucket = accounts.get(accountId) ?? full(PER_ACCOUNT.burst);
    accounts.set(accountId, bucket);
    return bucket;
  }

  function refill(bucket: Bucket, { burst, perSecond }: typeof PER_ACCOUNT): Bucket {
    const time = now();
    bucket.tokens = Math.min(burst, bucket.tokens + ((time - bucket.refilledAt) / 1000) * perSecond);
    bucket.refilledAt = time;
    return bucket;
  }

  function miss(accountId: number): null {
    bucketOf(accountId).missed += 1;
    return null;
  }

  return {
    take(accountId) {
      const own = refill(bucketOf(accountId), PER_ACCOUNT);
      if (own.tokens < 1 || refill(overall, OVERALL).tokens < 1) return miss(accountId);
      own.tokens -= 1;
      overall.tokens -= 1;
      const { missed } = own;
      own.missed = 0;
      own.takenAt = now();
      return { missed };
    },
    miss,
    takeMissed(quietMs) {
      const quietSince = now() - quietMs;
      const taken: MissedCount[] = [];
      for (const [accountId, bucket] of accounts.entries()) {
        if (bucket.missed === 0 || bucket.takenAt > quietSince) continue;
        taken.push({ accountId, missed: bucket.missed });
        bucket.missed = 0;
      }
      return taken;
    },
    returnMissed(accountId, missed) {
      bucketOf(accountId).missed += missed;
    },
    hasMissed: () => [...accounts.values()].some(({ missed }) => missed > 0),
  };
}
