import { styleText } from 'node:util';
import { type Difference, payloadJson } from '@orders/domain';
import { orderEntries, warningLines } from '../describe-order.ts';
import { escapeControls, hideKeys } from '../sanitize.ts';
import { details } from '../table.ts';
import type { Arrival } from './arrival.ts';
import type { CancelledOrder, EchoReceipt, Outcome } from './deliveries.ts';

/** Max characters of a body that are shown. */
const MAX_SHOWN_CHARACTERS = 20_000;
/** Max ids of a list of cancellations that are shown for each outcome. */
const MAX_SHOWN_IDS = 20;

export type Paint = (style: Parameters<typeof styleText>[0], text: string) => string;

/** Creates a function that colors text, or returns it unchanged. */
export function painter(hasColors: boolean): Paint {
  return hasColors ? (style, text) => styleText(style, text, { validateStream: false }) : (_, text) => text;
}

/** A request as text: one line, and details below it. */
export function describeArrival(arrival: Arrival, { raw, paint }: { raw: boolean; paint: Paint }): string {
  const { at, method, path, outcome, cancelled, problem } = arrival;
  const shownPath = escapeControls(path.slice(0, 200));
  const line = `${paint('dim', timeOf(at))}  ${method} ${shownPath}  ${paintedVerdict(arrival, paint)}`;
  const parts = [
    problem && describeProblem(arrival),
    outcome && describeOutcome(outcome),
    cancelled && describeCancelled(cancelled),
    raw && rawOf(arrival),
  ];
  const indented = parts.flatMap((part) => (part ? [part.replace(/^(?=.)/gm, '    ')] : []));
  return indented.length === 0 ? line : `${line}\n${indented.join('\n\n')}\n`;
}

/** A request as one JSON object; absent values are null. */
export function arrivalJson(arrival: Arrival, { raw }: { raw: boolean }): object {
  const { at, method, path, requestId, status, problem, cause, outcome, cancelled, isSimulated, body, rawHeaders } =
    arrival;
  const accepted = outcome && (outcome.kept ?? outcome.receipt);
  return {
    at,
    method,
    path,
    request_id: requestId,
    status,
    code: problem?.code ?? null,
    detail: problem?.detail ?? null,
    errors: problem?.errors ?? null,
    simulated: isSimulated,
    diagnosis: cause,
    receipt_id: outcome?.receipt.receiptId ?? null,
    idempotency_key: outcome?.receipt.idempotencyKey ?? null,
    repeats: outcome && repeatsJson(outcome),
    order: accepted?.order ?? null,
    order_state: outcome?.orderState ?? null,
    warnings: accepted?.warnings ?? [],
    cancellations: cancelled,
    ...(raw && { headers: redactedHeaders(rawHeaders), ...payloadJson(body) }),
  };
}

function repeatsJson({ receipt, replayed, kept, changes }: Outcome): object | null {
  const earlier = replayed ? receipt : receipt.original;
  return (
    earlier && {
      by: replayed ? 'idempotency_key' : 'source_order_id',
      receipt_id: earlier.receiptId,
      payload_mismatch: kept !== null,
      kept_as: kept && { receipt_id: kept.receiptId, status: kept.state, error: kept.error },
      changes,
    }
  );
}

/** The result of a request in a word or two, also for the summary. */
export function verdictOf({ status, problem, outcome, cancelled, isSimulated }: Arrival): string {
  if (problem) return `${status} ${problem.code}${isSimulated ? ' (asked for)' : ''}`;
  if (cancelled) return `${status} ${outcomesOf(cancelled).join(' and ')}`;
  if (!outcome) return `${status} status`;
  if (outcome.kept) return `${status} payload_mismatch`;
  if (outcome.replayed) return `${status} replayed`;
  return `${status} ${outcome.receipt.original ? 'duplicate' : 'accepted'}`;
}

function outcomesOf(cancelled: readonly CancelledOrder[]): string[] {
  return ['cancelled', 'held'].filter((name) => cancelled.some(({ outcome }) => outcome === name));
}

function paintedVerdict(arrival: Arrival, paint: Paint): string {
  const { problem, outcome } = arrival;
  const color = problem ? 'red' : outcome?.kept ? 'yellow' : 'green';
  const verdict = paint(['bold', color], verdictOf(arrival));
  return outcome ? `${verdict}  ${paint('dim', outcome.receipt.receiptId)}` : verdict;
}

function describeProblem({ problem, cause }: Arrival): string {
  return details([
    ['detail', problem?.detail],
    ['errors', warningLines(problem?.errors ?? [])],
    ['likely', cause?.detail],
  ]);
}

function describeOutcome({ receipt, replayed, kept, changes, orderState }: Outcome): string {
  const { order, warnings } = kept ?? receipt;
  const isRetry = replayed && !kept;
  const entries = isRetry ? [] : orderEntries(order).filter(([, value]) => value !== null);
  const hasOther = kept ? kept.original !== null : replayed || receipt.original !== null;
  return details([
    ['source order', order.source_order_id],
    ['order number', order.order_number === order.source_order_id ? undefined : order.order_number],
    ...entries,
    ['warnings', isRetry ? undefined : warningLines(warnings)],
    ['repeats', replayed ? replayedLine(receipt, kept) : duplicateLine(receipt)],
    ['order state', orderState === 'cancelled' ? 'cancelled, until a reviewer reopens it' : undefined],
    ['kept as', kept && keptAs(kept)],
    ['differs', hasOther ? differenceLines(changes) : undefined],
  ]);
}

function describeCancelled(cancelled: readonly CancelledOrder[]): string {
  const idsOf = (outcome: CancelledOrder['outcome']) => {
    const ids = cancelled.filter((one) => one.outcome === outcome).map(({ source_order_id }) => source_order_id);
    const more = ids.length - MAX_SHOWN_IDS;
    return ids.length === 0 ? undefined : [...ids.slice(0, MAX_SHOWN_IDS), ...(more > 0 ? [`and ${more} more`] : [])];
  };
  const reasons = new Set(cancelled.flatMap(({ reason }) => reason ?? []));
  return details([
    ['cancelled', idsOf('cancelled')?.join('\n')],
    ['held', idsOf('held')?.join('\n')],
    ['reason', [...reasons].slice(0, MAX_SHOWN_IDS).join('\n') || undefined],
  ]);
}

function replayedLine({ receivedAt }: EchoReceipt, kept: EchoReceipt | null): string {
  return `the Idempotency-Key of ${timeOf(receivedAt)}: the reply is that receipt again${kept ? ', though the content differs' : ''}`;
}

function duplicateLine({ original }: EchoReceipt): string | undefined {
  if (!original) return undefined;
  return `order ${original.orderId} of ${timeOf(original.receivedAt)}, by its source_order_id: would end as duplicate, and make no second order`;
}

function keptAs({ receiptId, error }: EchoReceipt): string {
  return error
    ? `${receiptId}, dead (${error}): another source_order_id under one key makes no order until it is redriven`
    : `${receiptId}, which would end as duplicate; derive the key from id and content`;
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

/** 18:04:05 */
function timeOf(date: Date): string {
  return date.toTimeString().slice(0, 8);
}

/** Only the scheme or prefix of these header fields is shown. */
const SECRET_HEADER = /authorization|signature|hmac|cookie|secret|token|api-?key/i;

/** Names and values of header fields, with secrets removed. */
function redactedHeaders(rawHeaders: readonly string[]): [string, string][] {
  const shown: [string, string][] = [];
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const [name, value] = [rawHeaders[at] as string, rawHeaders[at + 1] as string];
    const prefix = /^(?:bearer +|sha256=)/i.exec(value)?.[0] ?? '';
    shown.push([name, SECRET_HEADER.test(name) ? `${prefix}…` : value]);
  }
  return shown;
}

/** Creates a function that removes these secrets, also in JSON escapes, and everything that looks like a key or secret of the service. */
export function redactor(secrets: readonly string[]): (text: string) => string {
  const forms = secrets.flatMap((secret) => [secret, JSON.stringify(secret).slice(1, -1)]);
  return (text) => hideKeys(forms.reduce((rest, form) => rest.replaceAll(form, '…'), text));
}
