import { randomUUID } from 'node:crypto';
import type { Database } from '@orders/database/connect.ts';
import { isDamage } from '@orders/database/database-errors.ts';
import type { WakeUp } from '@orders/queue/wake-up.ts';
import { chunkBySize } from '@orders/runtime/concurrency/chunk-by-size.ts';
import type { Tracing } from '@orders/runtime/observability/span.ts';
import { errorTypeOf, withSpan } from '@orders/runtime/observability/tracing.ts';
import { isolateFailure, tryEach } from './isolate-failure.ts';
import type { LeaseReleaser } from './lease-releaser.ts';
import { normalizeReceipts } from './normalize-receipts.ts';
import { claimAlone, claimReceipts, findSuspects } from './receipts/claim-receipts.ts';
import { settleBatch } from './receipts/outbox.ts';
import type { PendingReceipt } from './receipts/pending-receipts.ts';
import { readNewReceipts } from './receipts/read-new-receipts.ts';
import type { RecordFailure } from './record-failure.ts';
import { type BatchTrace, traceBatch } from './trace-batch.ts';
import type { WorkerBatch } from './worker-batch.ts';
import { type BatchResult, OUTBOX_ROWS_REMAIN, type WriteBatch } from './write-batch.ts';

/**
 * Max bytes of the bodies per chunk, unless a single body is larger. An order with very many items takes fifty times its body in memory,
 * and the statement that writes it takes as much again. 300 orders of usual length stay below the limit.
 */
const CHUNK_BYTES = 2 ** 20;
/** A receipt that is processed alone becomes dead after this many crashes of its worker. */
const MAX_CRASHES_ALONE = 3;

interface ProcessDeps {
  database: Database;
  writeBatch: WriteBatch;
  recordFailure: RecordFailure;
  leaseReleaser: LeaseReleaser;
  /** Called for a receipt that is now `dead` because of `MAX_CRASHES_ALONE`. */
  onCrashLimit: (trace: BatchTrace | null, receiptId: string) => void;
  tracing: Tracing | null;
  leaseMs: number;
  sweepAfterMs: number;
}

/** Reads or claims those receipts that are available. */
interface ReceiptReader {
  /** Whether `read` puts them under the lease `leaseId`. */
  isLeased: boolean;
  /** @param readsBodies false if the bodies are not to be read: one that is unreadable makes the whole read fail. */
  read(options: {
    leaseId: string;
    receiptIds: readonly string[];
    readsBodies: boolean;
    trace: BatchTrace | null;
  }): Promise<PendingReceipt[]>;
}

/**
 * Processes wake-ups: reads or claims the available receipts, normalizes and writes them, and settles their batches. New receipts are read
 * without a lease, which saves one update each. If this worker crashes, their wake-ups are delivered again, as not new, and the next worker
 * claims. Suspects, receipts whose worker crashed under a lease, are processed last and one by one, to find which one is the cause.
 *
 * @throws when infrastructure fails; the wake-ups are retried, and no receipt has lost an attempt.
 */
export function processBatch(deps: ProcessDeps): (wakeUps: WakeUp[]) => Promise<void> {
  const { database, leaseReleaser, leaseMs, sweepAfterMs } = deps;

  const readNew: ReceiptReader = {
    isLeased: false,
    read: ({ receiptIds, readsBodies }) => readNewReceipts(database, receiptIds, readsBodies),
  };

  const claimTogether: ReceiptReader = {
    isLeased: true,
    read: ({ leaseId, receiptIds, readsBodies }) => claimReceipts(database, receiptIds, leaseId, leaseMs, readsBodies),
  };

  const claimSuspect: ReceiptReader = {
    isLeased: true,
    async read({ leaseId, receiptIds: [receiptId = ''], readsBodies, trace }) {
      const claimed = await claimAlone(database, receiptId, leaseId, leaseMs, MAX_CRASHES_ALONE, readsBodies);
      if (claimed === 'dead') deps.onCrashLimit(trace, receiptId);
      return claimed === null || claimed === 'dead' ? [] : [claimed];
    },
  };

  /**
   * Reads or claims receipts and writes their orders. After any failure it releases them, as a claim may have succeeded although its reply
   * was lost. If a body is unreadable, the batch is bisected until the damaged receipt is alone. That receipt is taken without its body, so
   * that reading the body fails later and counts as a failed attempt.
   *
   * @returns `taken`: the number of receipts read or claimed, 0 after a failure.
   */
  async function takeAndWrite(
    { wakeUps, trace }: Omit<WorkerBatch, 'leaseId'>,
    receiptIds: readonly string[],
    reader: ReceiptReader,
    readsBodies = true,
  ): Promise<{ taken: number; result: BatchResult }> {
    const leaseId = randomUUID();
    const batch: WorkerBatch = { leaseId: reader.isLeased ? leaseId : null, wakeUps, trace };
    let receipts: PendingReceipt[];
    try {
      receipts = await withSpan(trace?.begin('claim', receiptIds.length), () =>
        reader.read({ leaseId, receiptIds, readsBodies, trace }),
      );
    } catch (error) {
      await leaseReleaser.release(batch.leaseId, receiptIds);
      await isolateFailure(database, receiptIds, error, {
        retryHalf: (half) => takeAndWrite(batch, half, reader, readsBodies),
        async handleSingle(receiptId) {
          if (!readsBodies || !isDamage(error)) throw error;
          await takeAndWrite(batch, [receiptId], reader, false);
        },
      });
      return { taken: 0, result: OUTBOX_ROWS_REMAIN };
    }
    // Chunks keep the order: of several orders with the same source_order_id, the first received must be written first.
    const chunks = chunkBySize(receipts, ({ body }) => body?.length ?? 0, { size: CHUNK_BYTES });
    try {
      return { taken: receipts.length, result: await writeChunks(batch, chunks) };
    } catch (error) {
      await leaseReleaser.release(batch.leaseId, receiptIds);
      throw error;
    }
  }

  async function writeChunks(batch: WorkerBatch, chunks: readonly PendingReceipt[][]): Promise<BatchResult> {
    let result: BatchResult = OUTBOX_ROWS_REMAIN;
    for (const chunk of chunks) {
      const writable = await withSpan(batch.trace?.begin('normalize', chunk.length), () =>
        normalizeReceipts(batch, chunk, deps),
      );
      result = await deps.writeBatch(batch, writable);
    }
    // The statement that writes a chunk keeps outbox rows that list receipts of another one.
    return chunks.length > 1 ? OUTBOX_ROWS_REMAIN : result;
  }

  async function processAll(wakeUps: WakeUp[], trace: BatchTrace | null): Promise<void> {
    const reader = areNewAndShort(wakeUps) ? readNew : claimTogether;
    const receiptIds = [...new Set(wakeUps.flatMap((wakeUp) => wakeUp.receiptIds))];
    const { taken, result } = await takeAndWrite({ wakeUps, trace }, receiptIds, reader);
    if (result.outboxRowsDeleted && result.moved === receiptIds.length) return;
    if (taken < receiptIds.length) {
      const suspects = await findSuspects(database, receiptIds);
      await tryEach(suspects, (suspect) => takeAndWrite({ wakeUps, trace }, [suspect], claimSuspect));
    }
    for (const batchId of new Set(wakeUps.map((wakeUp) => wakeUp.batchId))) {
      await settleBatch(database, batchId, sweepAfterMs);
    }
  }

  return async (wakeUps) => {
    const trace = traceBatch(deps.tracing, wakeUps);
    try {
      await processAll(wakeUps, trace);
      trace?.end();
    } catch (error) {
      trace?.end(errorTypeOf(error));
      throw error;
    }
  };
}

/**
 * Whether all receipts can be read without a lease. All or none, as of several orders with the same `source_order_id` the first received
 * must be written first. Several chunks are leased, as they may take so long that a sweeper comes, and it must find a lease.
 */
function areNewAndShort(wakeUps: readonly WakeUp[]): boolean {
  return wakeUps.reduce((sum, { newBytes }) => sum + (newBytes ?? Number.POSITIVE_INFINITY), 0) <= CHUNK_BYTES;
}
