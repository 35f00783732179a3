import { dryRunReceipt } from '@orders/database';
import { attemptErrorDetail } from '@orders/domain';
import type { Request } from 'express';
import { accountIdOf } from '../context.ts';
import type { PortalDeps } from '../deps.ts';

/** How a redrive would end now. */
export interface RedrivePreview {
  /** Dead receipts that match. */
  matching: number;
  /** Of these so many were tried, the newest first. */
  tried: number;
  written: number;
  duplicate: number;
  failing: { code: string; sqlstate: string | null; detail: string; count: number }[];
  /** Something was in their way just now. */
  undecided: number;
}

/** Tried in one preview at most, and how long it goes on beginning with another, in milliseconds. */
export const TRIED_AT_MOST = 500;
const PREVIEW_MS = 10_000;

/**
 * Tries dead receipts one after the other, each in a transaction that is rolled back. Of two with one `source_order_id` that could both be
 * written, the second counts as a duplicate.
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
  for (const receiptId of receiptIds.slice(0, TRIED_AT_MOST)) {
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
  const known = failing.find((one) => one.code === code && one.sqlstate === sqlstate);
  if (known) known.count += 1;
  else failing.push({ code, sqlstate, detail: attemptErrorDetail(code), count: 1 });
}
