import type { WakeUp } from '@orders/queue';
import type { Span, SpanFacts, Tracing } from '@orders/runtime';

/** The spans of rings that are answered together. */
export interface BatchTrace {
  /** Begins a step that all of them share. */
  begin(step: 'claim' | 'normalize' | 'write' | 'compare', receipts: number): Span | null;
  /** Says what became of a receipt, in the trace of its request, if that is traced. */
  moved(receiptId: string, outcome: string, attributes?: SpanFacts): void;
  /** For the log; of a receipt whose request is not traced, that of the batch. */
  traceIdOf(receiptId: string): string;
  /** @param error the class or code of what all that is not moved has met, and comes back from. */
  end(error?: string): void;
}

/** Receipts of untraced requests that a batch names, at most. */
const MAX_NAMED = 100;

/**
 * Begins the spans of a batch: one for what is done for all of its receipts at once, which is linked to their requests, and in the trace
 * of each request that is traced one from the claim to the write. A ring of the sweeper's knows no request; its receipts are named on the
 * batch's span, so that they are found all the same.
 *
 * @returns null where nothing of it is traced.
 */
export function traceBatch(tracing: Tracing | null, wakeUps: readonly WakeUp[]): BatchTrace | null {
  if (!tracing) return null;
  const parents = new Map(wakeUps.flatMap(({ traces }) => Object.entries(traces ?? {})));
  const batch = tracing.begin('answer rings', { kind: 'consumer', links: [...parents.values()] });
  if (!batch) return null;
  const receiptIds = wakeUps.flatMap((wakeUp) => wakeUp.receiptIds);
  const untraced = receiptIds.filter((receiptId) => !parents.has(receiptId));
  batch.set({
    'orders.batch_size': receiptIds.length,
    ...(untraced.length > 0 && { 'orders.receipt_ids': untraced.slice(0, MAX_NAMED) }),
  });
  const writes = new Map<string, Span>();
  for (const [receiptId, parent] of parents) {
    const attributes = { 'orders.receipt_id': receiptId, 'orders.batch_size': receiptIds.length };
    const span = tracing.begin('write order', { kind: 'consumer', parent, links: [batch.traceparent], attributes });
    if (span) writes.set(receiptId, span);
  }

  return {
    begin: (step, receipts) => batch.begin(step, { attributes: { 'orders.batch_size': receipts } }),
    moved(receiptId, outcome, attributes = {}) {
      const span = writes.get(receiptId);
      if (!span) return;
      span.set({ 'orders.outcome': outcome, ...attributes });
      if (outcome === 'failed' || outcome === 'dead') span.fail(outcome);
      span.end();
      writes.delete(receiptId);
    },
    traceIdOf: (receiptId) => (writes.get(receiptId) ?? batch).traceId,
    end(error) {
      // Without an error, what is left was not this worker's to write: somebody else has it, or has written it.
      if (error !== undefined) {
        for (const span of [...writes.values(), batch]) span.fail(error);
        for (const span of writes.values()) span.end();
      }
      batch.end();
    },
  };
}
