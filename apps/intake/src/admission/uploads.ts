import type { IncomingMessage } from 'node:http';
import { createFairBudget, type FairBudget } from '@orders/runtime';
import { createWaitingRoom } from './waiting-room.ts';

/** When and how a slow body is cut off. */
export interface SlowUploads {
  /** Age in milliseconds at which an incomplete body may be cut off in favor of others. */
  afterMs: number;
  cutOff: (request: IncomingMessage) => void;
}

/** The incoming body of one request, and its bytes until they are released. */
interface Upload {
  addBytes(count: number): boolean | Promise<boolean>;
  complete(): void;
  release(): void;
}

interface Incomplete {
  request: IncomingMessage;
  accountId: number;
  startedAt: number;
  release: () => void;
}

/**
 * Counts incoming bodies and their bytes by account. If a budget is used up, slow bodies are preempted: those of the same account, or of
 * one that holds at least as much. Slow bodies are left alone until then, as they take nothing from others. If no body is slow, the
 * bytes wait for capacity, and TCP backpressure slows their sender.
 */
export function createUploads(deps: { bytes: FairBudget; maxUploads: number; slow: SlowUploads }): {
  /** @returns null if the account is already receiving as many bodies as its share allows. */
  begin(request: IncomingMessage, accountId: number): Upload | null;
} {
  const { bytes, slow } = deps;
  const uploads = createFairBudget(deps.maxUploads);
  const room = createWaitingRoom(bytes, { maxWaitMs: slow.afterMs, maxWaiting: deps.maxUploads });
  // Oldest first.
  const incomplete = new Set<Incomplete>();

  function preempt(budget: FairBudget, accountId: number): boolean {
    const slowSince = performance.now() - slow.afterMs;
    const own = budget.heldBy(accountId);
    for (const upload of incomplete) {
      if (upload.startedAt > slowSince) return false;
      if (upload.accountId !== accountId && budget.heldBy(upload.accountId) < own) continue;
      upload.release();
      slow.cutOff(upload.request);
      return true;
    }
    return false;
  }

  function take(budget: FairBudget, accountId: number, amount: number): boolean {
    while (!budget.take(accountId, amount)) if (!preempt(budget, accountId)) return false;
    return true;
  }

  return {
    begin(request, accountId) {
      if (!take(uploads, accountId, 1)) return null;
      let size = 0;
      let isComplete = false;
      let isReleased = false;
      const complete = () => {
        if (isComplete) return;
        isComplete = true;
        incomplete.delete(upload);
        uploads.release(accountId, 1);
      };
      const release = () => {
        if (isReleased) return;
        isReleased = true;
        complete();
        bytes.release(accountId, size);
      };
      const upload: Incomplete = { request, accountId, startedAt: performance.now(), release };
      incomplete.add(upload);
      return {
        addBytes(count) {
          const add = (isTaken: boolean) => {
            // This body may have been cut off meanwhile, even to make room for itself.
            if (isTaken && isReleased) bytes.release(accountId, count);
            else if (isTaken) size += count;
            return isTaken && !isReleased;
          };
          if (isReleased) return false;
          if (take(bytes, accountId, count)) return add(true);
          // A body that waits for its first bytes has none to release and is not slow.
          if (size === 0) incomplete.delete(upload);
          return room.wait(accountId, count).then(() => {
            if (!isReleased && !incomplete.has(upload)) {
              upload.startedAt = performance.now();
              incomplete.add(upload);
            }
            return add(take(bytes, accountId, count));
          });
        },
        complete,
        release,
      };
    },
  };
}
