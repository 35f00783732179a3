import { warningLines } from './describe-order.ts';
import type { ReceiptJson, ReceiptRecordJson } from './receipt-json.ts';
import { escapeControls } from './sanitize.ts';
import { details, table } from './table.ts';

/** Receipts as a table. */
export function tabulateReceipts(receipts: readonly ReceiptJson[]): string {
  return table(receipts, [
    { head: 'RECEIPT', cell: (receipt) => receipt.receipt_id },
    { head: 'ACCOUNT', cell: (receipt) => receipt.account_id, right: true },
    { head: 'STATE', cell: (receipt) => receipt.status },
    { head: 'SOURCE ORDER', cell: (receipt) => receipt.source_order_id, shrinks: true },
    { head: 'RECEIVED', cell: (receipt) => receipt.received_at },
  ]);
}

/** One receipt as text, with its history and its payload as received. */
export function describeReceipt(receipt: ReceiptRecordJson): string {
  const { error, duplicate_of } = receipt;
  const summary = details([
    ['receipt', receipt.receipt_id],
    ['account', receipt.account_id],
    ['state', receipt.status],
    ['error', error ? `${error.code}: ${error.detail}` : undefined],
    ['order', receipt.order_id ?? undefined],
    ['order state', receipt.order_state ?? undefined],
    ['duplicate of', duplicate_of ? `order ${duplicate_of.order_id}, receipt ${duplicate_of.receipt_id}` : undefined],
    ['changes', receipt.changes.map(({ pointer }) => pointer).join('\n') || undefined],
    ['source order', receipt.source_order_id],
    ['source', receipt.source?.name],
    ['id on the platform', receipt.source?.platform_id ?? undefined],
    ['channel', receipt.channel],
    ['received', receipt.received_at],
    ['normalized', receipt.normalized_at],
    ['updated', receipt.updated_at],
    ['attempts', receipt.attempts],
    ['next attempt', receipt.next_attempt_at ?? undefined],
    ['warnings', warningLines(receipt.warnings)],
    ['erased', receipt.erased_at ?? undefined],
    ['history', receipt.history.map(historyLine).join('\n') || undefined],
  ]);
  return `${summary}\n\n${payload(receipt)}`;
}

function historyLine(entry: Record<string, unknown>): string {
  return Object.entries(entry)
    .filter(([, value]) => value !== null)
    .map(([name, value]) => `${name}=${value}`)
    .join(' ');
}

function payload(receipt: ReceiptRecordJson): string {
  if ('payload_base64' in receipt) return `payload (not UTF-8, in base64)\n${receipt.payload_base64}`;
  const title = receipt.erased_at ? 'payload (personal data was erased)' : 'payload';
  return receipt.payload === null ? 'The payload was deleted.' : `${title}\n${escapeControls(receipt.payload)}`;
}
