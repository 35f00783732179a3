import { dryRunReceipt } from './dry-run-receipt.ts';
import { attemptErrorDetail } from '@orders/domain/attempt-errors.ts';
import type { Request } from 'express';
import { accountIdOf } from '../context.ts';
import type { PortalDeps } from '../deps.ts';

/** The outcome that a redrive would have now. */
export interface RedrivePreview {
  /** Dead receipts that match. */
  matching: number;
  /** How many of these were tried, newest first. */
  tried: number;
  written: number;
  duplicate: number;
  failing: { code: string; sqlstate: string | null; detail: string; count: number }[];
  /** Receipts whose dry run was blocked, for example by a lock. */
  undecided: number;
}

/** Max receipts per preview, and the time in milliseconds after which it starts no further one. */
export const MAX_TRIED = 500;
const PREVIEW_MS = 10_000;

/**
 * Dry-runs dead receipts one by one, each in a transaction that is rolled back. The second of two writable receipts with the same
 * `source_order_id` counts as a duplicate.
 */
export async function dryRunRedrive(
  { database, runFairly }: Pick<PortalDeps, 'database' | 'runFairly'>,
  request: Request,
  receiptIds: readonly string[],
  matching: number,
): Promise<RedrivePreview> {
  const accountId = accountIdOf(request);
  const endsAt = performance.now() + PREVIEW_MS;
  const preview: RedrivePreview = { matching, tried: 0, written: 0, duplicate: 0, failing: [], undecided: 0 };
  const written = new Set<string>();
  for (const receiptId of receiptIds.slice(0, MAX_TRIED)) {
    if (performance.now() > endsAt) break;
    const end = await runFairly(request, () => dryRunReceipt(database, accountId, receiptId));
    if (end.outcome === 'gone') continue;
    preview.tried += 1;
    if (end.outcome === 'undecided') preview.undecided += 1;
    else if (end.outcome === 'failing') countFailing(preview.failing, end.code, end.sqlstate);
    else if (end.outcome === 'duplicate' || written.has(end.sourceOrderId)) preview.duplicate += 1;
    else {
      preview.written += 1;
      written.add(end.sourceOrderId);
    }
  }
  return preview;
}

function countFailing(failing: RedrivePreview['failing'], code: string, sqlstate: string | null): void {
  const existing = failing.find((group) => group.code === code && group.sqlstate === sqlstate);
  if (existing) existing.count += 1;
  else failing.push({ code, sqlstate, detail: attemptErrorDetail(code), count: 1 });
}
