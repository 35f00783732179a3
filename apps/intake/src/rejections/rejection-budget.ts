import type { MissedCount } from '@orders/database';
import { LRUCache } from 'lru-cache';

/** How many refusals are recorded. */
export interface RejectionBudget {
  /**
   * Takes one of the account's.
   *
   * @returns how many it missed since it had one; null when there is none now, and then it has missed one more.
   */
  take(accountId: number): { missed: number } | null;
  /** Counts one that cannot be recorded for another reason. */
  miss(accountId: number): null;
  /** Takes the numbers of missed refusals of the accounts that had none recorded for `quietMs` milliseconds. */
  takeMissed(quietMs: number): MissedCount[];
  /** Adds to an account's missed refusals what could not be written. */
  release(accountId: number, missed: number): void;
  hasMissed(): boolean;
}

/** Of one account: a handful at once, as a developer tries things out, and then two a second. */
const PER_ACCOUNT = { burst: 10, perSecond: 2 };
/** Of all accounts together, so that the search for causes takes little of the time that accepted orders need. */
const TOGETHER = { burst: 50, perSecond: 20 };
const MAX_ACCOUNTS = 10_000;

interface Bucket {
  tokens: number;
  /** When the tokens were counted, in milliseconds. */
  at: number;
  /** When one was last recorded, in milliseconds. */
  takenAt: number;
  missed: number;
}

/** @param now a clock in milliseconds that only goes forward. */
export function createRejectionBudget(now: () => number = () => performance.now()): RejectionBudget {
  const full = (burst: number): Bucket => ({ tokens: burst, at: now(), takenAt: -Infinity, missed: 0 });
  const together = full(TOGETHER.burst);
  const accounts = new LRUCache<number, Bucket>({ max: MAX_ACCOUNTS });

  function bucketOf(accountId: number): Bucket {
    const bucket = accounts.get(accountId) ?? full(PER_ACCOUNT.burst);
    accounts.set(accountId, bucket);
    return bucket;
  }

  function fill(bucket: Bucket, { burst, perSecond }: typeof PER_ACCOUNT): Bucket {
    const time = now();
    bucket.tokens = Math.min(burst, bucket.tokens + ((time - bucket.at) / 1000) * perSecond);
    bucket.at = time;
    return bucket;
  }

  function miss(accountId: number): null {
    bucketOf(accountId).missed += 1;
    return null;
  }

  return {
    take(accountId) {
      const own = fill(bucketOf(accountId), PER_ACCOUNT);
      if (own.tokens < 1 || fill(together, TOGETHER).tokens < 1) return miss(accountId);
      own.tokens -= 1;
      together.tokens -= 1;
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
    release(accountId, missed) {
      bucketOf(accountId).missed += missed;
    },
    hasMissed: () => [...accounts.values()].some(({ missed }) => missed > 0),
  };
}
