import type { IncomingMessage } from 'node:http';
import { createFairBudget, type FairBudget } from '@orders/runtime/concurrency/fair-sharing.ts';
import { createWaitingRoom } from './waiting-room.ts';

/** When and how a slow body is cut off. */
export interface SlowUploads {
  /** Age in milliseconds at which an incomplete body counts as slow and may be cut off in favor of others. */
  afterMs: number;
  cutOff: (request: IncomingMessage) => void;
}

/** The incoming body of one request, and its bytes until they are released. */
interface Upload {
  /** @returns false if there is no memory for them, or the body was cut off. */
  addBytes(count: number): boolean | Promise<boolean>;
  /** The whole body has arrived. @returns false if it was cut off before. */
  complete(): boolean;
  release(): void;
}

interface IncompleteUpload {
  request: IncomingMessage;
  accountId: number;
  startedAt: number;
  release: () => void;
}

/**
 * Counts incoming bodies and their bytes by account. While there is room, slow bodies are left alone. When a budget is used up, slow bodies
 * are preempted: those of the same account, or of accounts that hold at least as much. If no body is slow, new bytes wait for room, and TCP
 * backpressure slows their sender.
 */
export function createUploads(deps: { bytes: FairBudget; maxUploads: number; slow: SlowUploads }): {
  /** @returns null if the account is already receiving as many bodies as its share allows. */
  begin(request: IncomingMessage, accountId: number): Upload | null;
} {
  const { bytes, slow } = deps;
  const uploads = createFairBudget(deps.maxUploads);
  const room = createWaitingRoom(bytes, { maxWaitMs: slow.afterMs, places: 0 });
  // Oldest first.
  const incomplete = new Set<IncompleteUpload>();

  /** Cuts off one slow body for the account. @returns false if there is none. */
  function preempt(budget: FairBudget, accountId: number): boolean {
    const slowSince = performance.now() - slow.afterMs;
    const taken = budget.takenBy(accountId);
    for (const upload of incomplete) {
      if (upload.startedAt > slowSince) return false;
      if (upload.accountId !== accountId && budget.takenBy(upload.accountId) < taken) continue;
      upload.release();
      slow.cutOff(upload.request);
      return true;
    }
    return false;
  }

  function takeOrPreempt(budget: FairBudget, accountId: number, amount: number): boolean {
    while (!budget.take(accountId, amount)) if (!preempt(budget, accountId)) return false;
    return true;
  }

  return {
    begin(request, accountId) {
      if (!takeOrPreempt(uploads, accountId, 1)) return null;
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
      const takeBytes = (count: number) => {
        if (!takeOrPreempt(bytes, accountId, count)) return false;
        // This body may have been cut off meanwhile, even to make room for itself.
        if (isReleased) bytes.release(accountId, count);
        else size += count;
        return !isReleased;
      };
      const upload: IncompleteUpload = { request, accountId, startedAt: performance.now(), release };
      incomplete.add(upload);
      return {
        addBytes(count) {
          if (isReleased) return false;
          if (takeBytes(count)) return true;
          if (isReleased) return false;
          // While it waits for room for its first bytes, it has none to release and is not slow.
          if (size === 0) incomplete.delete(upload);
          return room.waitAhead({ accountId, amount: count, isGone: () => isReleased }).then(() => {
            // Nobody is cut off for a client that is gone.
            if (isReleased) return false;
            if (!incomplete.has(upload)) {
              upload.startedAt = performance.now();
              incomplete.add(upload);
            }
            return takeBytes(count);
          });
        },
        complete() {
          complete();
          return !isReleased;
        },
        release,
      };
    },
  };
}
