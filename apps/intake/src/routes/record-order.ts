import type { IncomingReceipt } from '@orders/database/receipts/record-receipts.ts';
import type { Logger } from '@orders/runtime/observability/logger.ts';
import { withSpan } from '@orders/runtime/observability/tracing.ts';
import type { Request } from 'express';
import type { IntakeMetrics } from '../observability/metrics.ts';
import type { ReceiptWriter, Recorded } from '../receipts/receipt-writer.ts';
import { contextOf, logFields } from '../request-context.ts';

export interface RecordDeps {
  writer: ReceiptWriter;
  metrics: Pick<IntakeMetrics, 'acceptSeconds' | 'mismatches'>;
  logger: Logger;
}

/** Makes the receipt of an accepted order durable. Logs and counts a repeated idempotency key with another payload. */
export async function recordOrder(request: Request, receipt: IncomingReceipt, deps: RecordDeps): Promise<Recorded> {
  const context = contextOf(request);
  const { span, startedAt } = context;
  context.receiptId = receipt.receiptId;
  const recorded = await withSpan(span?.begin('record receipt'), () => deps.writer.record(receipt, span));
  deps.metrics.acceptSeconds.observe((performance.now() - startedAt) / 1000);
  context.receiptId = recorded.receiptId;
  const { kept } = recorded;
  if (kept) {
    deps.metrics.mismatches.inc({ kept_as: kept.as });
    deps.logger.warn('idempotency key repeated with another payload', {
      ...logFields(context),
      kept_receipt_id: kept.receiptId,
      kept_as: kept.as,
    });
  }
  return recorded;
}
