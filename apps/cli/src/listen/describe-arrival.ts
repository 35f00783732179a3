import { styleText } from 'node:util';
import { type Difference, payloadJson } from '@orders/domain';
import { orderEntries } from '../describe-order.ts';
import { escapeControls } from '../escape-controls.ts';
import { details } from '../table.ts';
import { warningLines } from '../warning-lines.ts';
import type { Arrival } from './create-listener.ts';
import type { EchoReceipt, Outcome } from './deliveries.ts';
import { redactedHeaders } from './redact.ts';

/** Max characters of a body that are shown. */
const MAX_SHOWN_CHARACTERS = 20_000;

export type Paint = (style: Parameters<typeof styleText>[0], text: string) => string;

/** Creates a function that colors text, or returns it unchanged. */
export function painter(hasColors: boolean): Paint {
  return hasColors ? (style, text) => styleText(style, text, { validateStream: false }) : (_, text) => text;
}

/** A request as text: one line, and details below it. */
export function describeArrival(arrival: Arrival, { raw, paint }: { raw: boolean; paint: Paint }): string {
  const { at, method, path, outcome } = arrival;
  const time = at.toTimeString().slice(0, 8);
  const line = [
    paint('dim', time),
    `${method} ${escapeControls(path.slice(0, 200))}`,
    paintedVerdict(arrival, paint),
  ].join('  ');
  const parts = [describeProblem(arrival), outcome && describeOutcome(outcome)].filter(
    (part) => part !== null && part !== '',
  );
  const indented = [...parts, ...(raw ? [rawOf(arrival)] : [])].map((part) => indent(part as string));
  return [line, indented.join('\n\n')].filter(Boolean).join('\n') + (indented.length > 0 ? '\n' : '');
}

/** The result of a request in a word or two, also for the summary. */
export function verdictOf({ status, problem, outcome, isSimulated }: Arrival): string {
  if (problem) return `${status} ${problem.code}${isSimulated ? ' (asked for)' : ''}`;
  if (!outcome) return `${status} status`;
  if (outcome.kept) return `${status} payload_mismatch`;
  if (outcome.replayed) return `${status} replayed`;
  return `${status} ${outcome.receipt.original ? 'duplicate' : 'accepted'}`;
}

function paintedVerdict(arrival: Arrival, paint: Paint): string {
  const { problem, outcome } = arrival;
  const color = problem ? 'red' : outcome?.kept ? 'yellow' : 'green';
  const verdict = paint(['bold', color], verdictOf(arrival));
  return outcome ? `${verdict}  ${paint('dim', outcome.receipt.receiptId)}` : verdict;
}

function describeProblem({ problem, cause }: Arrival): string | null {
  if (!problem) return null;
  return details([
    ['detail', problem.detail],
    ['errors', warningLines(problem.errors ?? [])],
    ['likely', cause?.detail],
  ]);
}

function describeOutcome(outcome: Outcome): string {
  const { order, warnings } = outcome.kept ?? outcome.receipt;
  const repeats = describeDuplicate(outcome);
  const isRetry = outcome.replayed && !outcome.kept;
  const entries = isRetry ? [] : orderEntries(order).filter(([, value]) => value !== null);
  return details([
    ['source order', order.source_order_id],
    ['order number', order.order_number === order.source_order_id ? undefined : order.order_number],
    ...entries,
    ['warnings', isRetry ? undefined : warningLines(warnings)],
    ['repeats', repeats],
    ['kept as', outcome.kept && keptAs(outcome.kept)],
    ['differs', isDeadOrNew(outcome) ? undefined : differenceLines(outcome.changes)],
  ]);
}

/** Whether there is no other order to compare with. */
function isDeadOrNew({ receipt, replayed, kept }: Outcome): boolean {
  return kept ? kept.original === null : !replayed && receipt.original === null;
}

function keptAs({ receiptId, error }: EchoReceipt): string {
  return error
    ? `${receiptId}, dead (${error}): another source_order_id under one key makes no order until it is redriven`
    : `${receiptId}, which would end as duplicate; derive the key from id and content`;
}

function describeDuplicate({ receipt, replayed, kept }: Outcome): string | undefined {
  const when = (date: Date) => date.toTimeString().slice(0, 8);
  if (replayed)
    return `the Idempotency-Key of ${when(receipt.receivedAt)}: the reply is that receipt again${kept ? ', though the content differs' : ''}`;
  const { original } = receipt;
  if (!original) return undefined;
  return `order ${original.orderId} of ${when(original.receivedAt)}, by its source_order_id: would end as duplicate, and make no second order`;
}

function differenceLines(changes: readonly Difference[]): string {
  const lines = changes.map(({ pointer, from, to }) => `${pointer}: ${JSON.stringify(from)} → ${JSON.stringify(to)}`);
  return lines.join('\n') || 'in no field of an order';
}

function rawOf({ rawHeaders, body }: Arrival): string {
  const headers = redactedHeaders(rawHeaders).map(([name, value]) => `${name}: ${escapeControls(value)}`);
  if (body === null) return [...headers, '', '(the body was not read)'].join('\n');
  const shown = payloadJson(body);
  const text = 'payload' in shown ? (shown.payload ?? '') : `(not UTF-8, in base64) ${shown.payload_base64}`;
  const cut =
    text.length > MAX_SHOWN_CHARACTERS ? `${text.slice(0, MAX_SHOWN_CHARACTERS)}… (${body.length} bytes in all)` : text;
  return [...headers, '', escapeControls(cut)].join('\n');
}

function indent(text: string): string {
  return text.replace(/^(?=.)/gm, '    ');
}
