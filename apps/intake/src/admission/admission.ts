import type { IncomingMessage } from 'node:http';
import { Problem } from '@orders/domain/problems.ts';
import { createFairBudget, type FairBudget } from '@orders/runtime/concurrency/fair-sharing.ts';
import type { RequestSlot } from '../request-context.ts';
import { createUploads, type SlowUploads } from './uploads.ts';
import { createWaitingRoom } from './waiting-room.ts';

/** Each kind has its own slots. A batch costs as much memory and time as many orders; a list of ids (reconcile) costs time of Postgres. */
export type RequestKind = 'order' | 'batch' | 'list' | 'cancellation';

export interface AdmissionLimits {
  /** Max orders being recorded. */
  maxOrders: number;
  /** Max bytes of bodies in memory, complete or not. */
  maxBytes: number;
  /** Max bodies being received. */
  maxUploads: number;
  /** When an incomplete body may be cut off in favor of another. */
  slow: SlowUploads;
}

/** Divides intake's memory and concurrency fairly among accounts: an account may hold at most as much of a budget as is free (`createFairBudget`). */
export interface Admission {
  readonly slots: Readonly<Record<RequestKind, FairBudget>>;
  readonly bytes: FairBudget;
  /** Requests that wait in turn for a slot of any kind. */
  readonly waiting: number;
  /** Whether requests wait for slots or at least half of these are taken, so that an account may get none. */
  isBusy(kind: RequestKind): boolean;
  /** Whether the account may have a slot of this kind now. Behind its requests that wait, it may not. */
  hasRoom(kind: RequestKind, accountId: number): boolean;
  /**
   * Waits in turn, up to a second, until the account may have a slot of this kind.
   *
   * @returns false if there is still none, the client has disconnected, or the account has all its places to wait.
   */
  waitForRoom(kind: RequestKind, accountId: number, request: IncomingMessage): Promise<boolean>;
  /**
   * Begins to receive a body. The caller must release the returned slot.
   *
   * @throws {Problem} `overloaded` if the account is already receiving its maximum.
   */
  beginUpload(request: IncomingMessage & { body?: unknown }, kind: RequestKind, accountId: number): RequestSlot;
}

/** The largest batch is as long as 32 of the largest orders, so batches take at most half the memory of single orders. */
const ORDERS_PER_BATCH_SLOT = 64;
/** Each list is at most 1 MiB, and only two are looked up concurrently. */
const LIST_SLOTS = 8;
/** Each cancellation is at most 1 MiB, and most are one order. */
const CANCELLATION_SLOTS = 32;
/**
 * Max wait for a slot before 503. Rejecting at once makes senders retry at once, and as a rejection costs over half of an order, little is
 * left to accept with.
 */
const MAX_WAIT_MS = 1000;
/** Places to wait per slot: the connections of waiting requests take memory too. */
const PLACES_PER_SLOT = 2;

/** For requests that need no slot. */
export const NO_SLOT: RequestSlot = {
  addBytes: () => true,
  acquire: () => true,
  release: () => {},
  holdUntil: (work) => work(),
};

/** Creates the admission control of one process. */
export function createAdmission({ maxOrders, maxBytes, maxUploads, slow }: AdmissionLimits): Admission {
  const slots = {
    order: createFairBudget(maxOrders),
    batch: createFairBudget(Math.ceil(maxOrders / ORDERS_PER_BATCH_SLOT)),
    list: createFairBudget(LIST_SLOTS),
    cancellation: createFairBudget(CANCELLATION_SLOTS),
  };
  const bytes = createFairBudget(maxBytes);
  const uploads = createUploads({ bytes, maxUploads, slow });
  const roomOf = (budget: FairBudget) =>
    createWaitingRoom(budget, { maxWaitMs: MAX_WAIT_MS, places: PLACES_PER_SLOT * budget.max });
  const waitingRooms = {
    order: roomOf(slots.order),
    batch: roomOf(slots.batch),
    list: roomOf(slots.list),
    cancellation: roomOf(slots.cancellation),
  };

  return {
    slots,
    bytes,
    get waiting() {
      return Object.values(waitingRooms).reduce((sum, room) => sum + room.waiting, 0);
    },
    isBusy: (kind) => waitingRooms[kind].waiting > 0 || slots[kind].taken * 2 >= slots[kind].max,
    hasRoom: (kind, accountId) => waitingRooms[kind].hasRoom(accountId, 1),
    waitForRoom: (kind, accountId, request) =>
      waitingRooms[kind].waitInTurn({ accountId, amount: 1, isGone: () => request.destroyed }),
    beginUpload(request, kind, accountId) {
      const upload = uploads.begin(request, accountId);
      if (!upload) throw new Problem('overloaded');
      const budget = slots[kind];
      let hasSlot = false;
      let isReleased = false;
      let isHeld = false;
      const release = () => {
        if (isReleased || isHeld) return;
        isReleased = true;
        upload.release();
        if (hasSlot) budget.release(accountId, 1);
      };
      return {
        addBytes: upload.addBytes,
        acquire() {
          if (!upload.complete()) return false;
          const takeSlot = () => {
            // The client may have disconnected during the wait.
            hasSlot = !isReleased && budget.take(accountId, 1);
            return hasSlot;
          };
          if (budget.hasRoom(accountId, 1)) return takeSlot();
          const waiter = { accountId, amount: 1, isGone: () => isReleased };
          return waitingRooms[kind].waitAhead(waiter).then((hasRoom) => hasRoom && takeSlot());
        },
        release,
        async holdUntil(work) {
          isHeld = true;
          try {
            const result = await work();
            request.body = undefined;
            return result;
          } finally {
            isHeld = false;
            release();
          }
        },
      };
    },
  };
}
