import type { WakeUp } from '@orders/queue/wake-up.ts';
import type { Span, SpanAttributes, Tracing } from '@orders/runtime/observability/span.ts';

/** The spans of one batch of wake-ups. */
export interface BatchTrace {
  /** Begins a step of the whole batch. */
  begin(step: 'claim' | 'normalize' | 'write' | 'cancel' | 'compare', receipts: number): Span | null;
  /** Ends the receipt's span in the trace of its request with the outcome, if the request is traced. */
  recordOutcome(receiptId: string, outcome: string, attributes?: SpanAttributes): void;
  /** For the log: the trace of the receipt's request, or of the batch if the request is not traced. */
  traceIdOf(receiptId: string): string;
  /** @param error class or code of the error that the receipts without an outcome failed with; they are retried. */
  end(error?: string): void;
}

/** Max receipt ids of untraced requests in the attributes of a batch. */
const MAX_RECEIPT_IDS = 100;

/**
 * Begins the spans of a batch. One span is for the whole batch and links to its requests. Each traced request also gets a span in its own
 * trace, from the claim to the outcome. Wake-ups of the sweeper have no request, so the batch's span lists their receipts.
 *
 * @returns null when nothing is traced.
 */
export function traceBatch(tracing: Tracing | null, wakeUps: readonly WakeUp[]): BatchTrace | null {
  if (!tracing) return null;
  const parents = new Map(wakeUps.flatMap(({ traces }) => Object.entries(traces ?? {})));
  const batch = tracing.begin('process batch', { kind: 'consumer', links: [...parents.values()] });
  if (!batch) return null;
  const receiptIds = wakeUps.flatMap((wakeUp) => wakeUp.receiptIds);
  const untraced = receiptIds.filter((receiptId) => !parents.has(receiptId));
  batch.set({
    'orders.batch_size': receiptIds.length,
    ...(untraced.length > 0 && { 'orders.receipt_ids': untraced.slice(0, MAX_RECEIPT_IDS) }),
  });
  const writes = new Map<string, Span>();
  for (const [receiptId, parent] of parents) {
    const attributes = { 'orders.receipt_id': receiptId, 'orders.batch_size': receiptIds.length };
    const span = tracing.begin('write order', { kind: 'consumer', parent, links: [batch.traceparent], attributes });
    if (span) writes.set(receiptId, span);
  }

  return {
    begin: (step, receipts) => batch.begin(step, { attributes: { 'orders.batch_size': receipts } }),
    recordOutcome(receiptId, outcome, attributes = {}) {
      const span = writes.get(receiptId);
      if (!span) return;
      span.set({ 'orders.outcome': outcome, ...attributes });
      if (outcome === 'failed' || outcome === 'dead') span.fail(outcome);
      span.end();
      writes.delete(receiptId);
    },
    traceIdOf: (receiptId) => (writes.get(receiptId) ?? batch).traceId,
    end(error) {
      // Without an error, the remaining receipts belong to another worker.
      if (error !== undefined) {
        for (const span of [...writes.values(), batch]) span.fail(error);
        for (const span of writes.values()) span.end();
      }
      batch.end();
    },
  };
}

/** Fields that identify a receipt in the log. */
export function logFields(receiptId: string, trace: BatchTrace | null): { receipt_id: string; trace_id?: string } {
  return { receipt_id: receiptId, ...(trace && { trace_id: trace.traceIdOf(receiptId) }) };
}
