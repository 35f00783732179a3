import { AsyncLocalStorage } from 'node:async_hooks';
import { hashPassword, needsRehash, verifyPassword } from '@orders/database/users/passwords.ts';
import { Problem } from '@orders/domain/problems.ts';
import { createFairBudget, createFairQueue } from '@orders/runtime/concurrency/fair-sharing.ts';

/** Who asks for hashes; it decides where they wait. */
export interface Requester {
  /** The user or the network. Keys are served round-robin, whatever the number of their requests. */
  key: string;
  /** From a known device, a session or an invitation; such hashes go first. */
  isTrusted: boolean;
  /** A request whose client has disconnected leaves the queue. */
  signal?: AbortSignal;
}

/** Hashes passwords with bounded memory and CPU. */
export interface PasswordHasher {
  /**
   * Runs work that hashes; its hashes wait in the queue of the requester.
   *
   * @throws {Problem} `too_many_sign_ins`, at once, if too many requests of the key or of all keys are under way.
   */
  admit<Result>(requester: Requester, work: () => Promise<Result>): Promise<Result>;
  hash(password: string): Promise<string>;
  /** @throws {Error} if the hash has an unknown form. */
  verify(options: { hash: string; password: string }): Promise<boolean>;
  /** Whether a hash is cheaper to guess than new hashes. */
  needsRehash(hash: string): boolean;
}

/** Each takes 128 MiB, and one of the four threads of libuv, which also read the page's files. */
const MAX_CONCURRENT = 2;

/** Max pending requests that are trusted, and as many that are not. At the default cost, the last one waits for about four seconds. */
const MAX_PENDING = 20;

const TRUSTED = 'trusted ';

/**
 * Hashes at most two passwords at the same time in this process. Trusted requests go first, in a queue of their own. Within a queue, keys
 * alternate, and one key gets at most half. So a flood of sign-ins delays a user on a known device by one hash. A user on an unknown device
 * competes with the flood for the other queue.
 *
 * @param ln log2 of scrypt's N.
 */
export function createPasswordHasher(ln?: number): PasswordHasher {
  const runFairly = createFairQueue<string>(MAX_CONCURRENT, MAX_CONCURRENT, (key) => key.startsWith(TRUSTED));
  const trusted = createFairBudget<string>(MAX_PENDING);
  const unknown = createFairBudget<string>(MAX_PENDING);
  const requesters = new AsyncLocalStorage<Requester>();

  async function admit<Result>(requester: Requester, work: () => Promise<Result>): Promise<Result> {
    const budget = requester.isTrusted ? trusted : unknown;
    if (!budget.take(requester.key, 1)) throw new Problem('too_many_sign_ins');
    try {
      return await requesters.run(requester, work);
    } finally {
      budget.release(requester.key, 1);
    }
  }

  function queue<Result>(work: () => Promise<Result>): Promise<Result> {
    const requester = requesters.getStore();
    if (!requester) return admit({ key: '', isTrusted: false }, () => queue(work));
    return runFairly(`${requester.isTrusted ? TRUSTED : ''}${requester.key}`, work, requester.signal);
  }

  return {
    admit,
    hash: (password) => queue(() => hashPassword(password, ln)),
    verify: ({ hash, password }) => queue(() => verifyPassword(hash, password, ln)),
    needsRehash: (hash) => needsRehash(hash, ln),
  };
}
