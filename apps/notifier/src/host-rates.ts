/** Limits the requests to each host, whatever endpoints, accounts and ports they are for. */
export interface HostRates {
  /**
   * Takes requests of an account to a host.
   *
   * @returns how many may be made now, at most `wanted`; if none, after how many milliseconds to ask again.
   */
  take(host: string, accountId: number, wanted: number): { granted: number; waitMs: number };
  /** Takes one that is made in any case; later ones wait for it. */
  force(host: string, accountId: number): void;
  /** Returns requests that were not made. */
  giveBack(host: string, accountId: number, count: number): void;
}

interface Bucket {
  tokens: number;
  /** When `tokens` was right, in milliseconds of `now`. */
  at: number;
}

interface AccountBucket extends Bucket {
  /** Until then it counts among the accounts that share the rate. */
  activeUntil: number;
}

interface HostBucket extends Bucket {
  accounts: Map<number, AccountBucket>;
}

/** Requests that a host can get at once, after it got none for some time: those of one round. */
export const BURST = 10;
/** An account that asked shares the rate for this time, so that one that asks again and again does not take all of it. */
const ACTIVE_MS = 1000;
const PRUNE_MS = 10_000;

/**
 * A token bucket for each host. The accounts that ask for the same host share it evenly, so that none delays another's deliveries to a
 * platform that both use.
 *
 * @param perSecond requests a second to one host.
 * @param now a clock in milliseconds that never goes back.
 */
export function createHostRates(perSecond: number, now: () => number = () => performance.now()): HostRates {
  const hosts = new Map<string, HostBucket>();
  const burst = Math.min(BURST, perSecond);
  let prunedAt = now();

  function refill(bucket: Bucket, at: number, rate: number): void {
    bucket.tokens = Math.min(burst, bucket.tokens + ((at - bucket.at) / 1000) * rate);
    bucket.at = at;
  }

  /** The refilled buckets of a host and an account, and the account's share of the rate. */
  function open(name: string, accountId: number) {
    const at = now();
    if (at - prunedAt > PRUNE_MS) prune(at);
    const host = hosts.get(name) ?? { tokens: burst, at, accounts: new Map<number, AccountBucket>() };
    hosts.set(name, host);
    refill(host, at, perSecond);
    const account = host.accounts.get(accountId) ?? { tokens: burst, at, activeUntil: at };
    host.accounts.set(accountId, account);
    dropInactive(host, at, accountId);
    const share = perSecond / host.accounts.size;
    refill(account, at, share);
    return { at, host, account, share };
  }

  function dropInactive({ accounts }: HostBucket, at: number, except?: number): void {
    for (const [id, { activeUntil }] of accounts) if (activeUntil < at && id !== except) accounts.delete(id);
  }

  /** Forgets the hosts whose buckets are full again, and which nobody asks for. */
  function prune(at: number): void {
    prunedAt = at;
    for (const [name, host] of hosts) {
      refill(host, at, perSecond);
      dropInactive(host, at);
      if (host.accounts.size === 0 && host.tokens === burst) hosts.delete(name);
    }
  }

  function add(name: string, accountId: number, count: number): void {
    const { at, host, account } = open(name, accountId);
    // A test by one account takes from others only what is there.
    host.tokens = Math.min(burst, Math.max(Math.min(host.tokens, 0), host.tokens + count));
    account.tokens = Math.min(burst, Math.max(-burst, account.tokens + count));
    account.activeUntil = Math.max(account.activeUntil, at + ACTIVE_MS);
  }

  return {
    take(name, accountId, wanted) {
      const { at, host, account, share } = open(name, accountId);
      const granted = Math.max(0, Math.floor(Math.min(wanted, host.tokens, account.tokens)));
      host.tokens -= granted;
      account.tokens -= granted;
      const enough = Math.min(wanted, burst);
      const waitMs = granted > 0 ? 0 : Math.ceil((1000 * (enough - Math.min(host.tokens, account.tokens))) / share);
      account.activeUntil = at + waitMs + ACTIVE_MS;
      return { granted, waitMs };
    },
    force: (name, accountId) => add(name, accountId, -1),
    giveBack: add,
  };
}
