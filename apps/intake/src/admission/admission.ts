import type { IncomingMessage } from 'node:http';
import { Problem } from '@orders/domain';
import { createFairBudget, type FairBudget } from '@orders/runtime';
import type { RequestSlot } from './request-slot.ts';
import { createUploads, type SlowUploads } from './uploads.ts';
import { createWaitingRoom } from './waiting-room.ts';

/** Requests are counted by what they cost: a batch takes as much memory and time as many orders, a list of ids as much of Postgres. */
export type RequestKind = 'order' | 'batch' | 'list';

export interface AdmissionLimits {
  /** Orders being recorded at once. */
  maxOrders: number;
  /** Bytes of bodies in memory at once, complete or not. */
  maxBytes: number;
  /** Bodies being received at once. */
  maxUploads: number;
  /** When a body that is still being received may be ended in favor of another. */
  slow: SlowUploads;
}

/** Shares intake's memory and time between accounts: each limit is a budget of which no account gets more than is left to others. */
export interface Admission {
  readonly slots: Readonly<Record<RequestKind, FairBudget>>;
  readonly bytes: FairBudget;
  /** Whether slots of a kind are so scarce that an account may find none. */
  isBusy(kind: RequestKind): boolean;
  /** Waits a moment until the account can get a slot of this kind. @returns false when it cannot. */
  waitForRoom(kind: RequestKind, accountId: number): Promise<boolean>;
  /**
   * Begins to receive a body.
   *
   * @throws {Problem} `overloaded` when the account is receiving too many already.
   */
  begin(request: IncomingMessage, kind: RequestKind, accountId: number): RequestSlot;
}

/** Batches may take half the memory that orders sent one by one may: of the largest, each is as long as 32 of the largest orders. */
const ORDERS_PER_BATCH_SLOT = 64;
/** Two look at once, and each is of at most 1 MiB. */
const LIST_SLOTS = 8;
/** Max wait for a slot before 503. Rejecting instantly makes senders retry instantly, and the rejections then starve admitted requests. */
const MAX_WAIT_MS = 20;
/** Max requests waiting for a slot, for each slot there is: their bodies take memory too. */
const MAX_WAITING_PER_SLOT = 2;

/** Creates the admission of one process. */
export function createAdmission({ maxOrders, maxBytes, maxUploads, slow }: AdmissionLimits): Admission {
  const slots = {
    order: createFairBudget(maxOrders),
    batch: createFairBudget(Math.ceil(maxOrders / ORDERS_PER_BATCH_SLOT)),
    list: createFairBudget(LIST_SLOTS),
  };
  const bytes = createFairBudget(maxBytes);
  const uploads = createUploads({ bytes, maxUploads, slow });
  const roomOf = (budget: FairBudget) =>
    createWaitingRoom(budget, { maxWaitMs: MAX_WAIT_MS, maxWaiting: MAX_WAITING_PER_SLOT * budget.max });
  const waitingRooms = { order: roomOf(slots.order), batch: roomOf(slots.batch), list: roomOf(slots.list) };
  const waitForRoom = (kind: RequestKind, accountId: number) => waitingRooms[kind].wait(accountId, 1);

  return {
    slots,
    bytes,
    isBusy: (kind) => slots[kind].taken * 2 >= slots[kind].max,
    waitForRoom,
    begin(request, kind, accountId) {
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
        if (hasSlot) budget.give(accountId, 1);
      };
      return {
        addBytes: upload.addBytes,
        complete() {
          upload.complete();
          const takeSlot = () => {
            // While it waited, its client may have disconnected.
            hasSlot = !isReleased && budget.take(accountId, 1);
            return hasSlot;
          };
          if (budget.hasRoom(accountId, 1)) return takeSlot();
          return waitForRoom(kind, accountId).then((hasRoom) => hasRoom && takeSlot());
        },
        release,
        async holdUntil(work) {
          isHeld = true;
          try {
            return await work();
          } finally {
            isHeld = false;
            release();
          }
        },
      };
    },
  };
}
