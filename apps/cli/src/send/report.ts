import { escapeControlsInLine } from '../sanitize.ts';
import { count, plural } from '../table.ts';
import type { FailedOrder } from './failures.ts';

/** The outcome of an input's orders: `read` is the sum of `refused` and all statuses. */
export interface Report {
  read: number;
  /** Orders with the source_order_id of an earlier one. */
  repeated: number;
  /** Orders that differ from the service's order with the same source_order_id, or from the first content of their key. */
  changed: number;
  refused: number;
  /** Rejected orders by code. */
  refused_by_code: Record<string, number>;
  /** Accepted orders by status. */
  statuses: Record<Status, number>;
  /** Why the service could not be asked for the outcome of pending orders, as a sentence; null otherwise. */
  not_asked: string | null;
  /** Orders that earlier runs sent. */
  sent_before: number;
  /** Duration of this run, from its start to the last reply to an order. */
  seconds: number;
  /** Rate of this run. */
  orders_per_second: number;
  /** The file that lists each rejected, dead, unknown, changed or duplicate order with its reason; null if there is none. */
  failed_file: string | null;
  /** Number of orders in `failed_file`. */
  listed: number;
  /** Of these, all that are changed or duplicate, and the first few of the others. */
  failures: FailedOrder[];
}

const DIFFERENT = 'sent before, with other content (duplicate)';
const MEANINGS = {
  written: 'written',
  duplicate: 'sent before, with the same content (duplicate)',
  dead: 'dead: could not be written; ask the operator, or send them again with --only-failed',
  failed: 'failed so far: the service tries again; run the same command again to ask',
  pending: 'accepted, not known to be written yet; run the same command again to ask',
  unknown: 'accepted, but the outcome is unknown',
  not_followed: 'accepted; the outcome was not requested',
};
export type Status = keyof typeof MEANINGS;
export const STATUSES = Object.keys(MEANINGS) as Status[];

/** Why the run is not complete, as a sentence; null if nothing is left to do. */
export function incompleteReason({ refused, statuses, not_asked, listed }: Report): string | null {
  if (refused + statuses.dead + statuses.failed + statuses.pending + statuses.unknown > 0)
    return `Not all orders are ${not_asked === null ? '' : 'known to be '}written.`;
  return listed > 0 ? 'Some orders differ from what the service has, or have the id of another one.' : null;
}

/** The report as text. */
export function renderReport(report: Report): string {
  const { read, refused, statuses, seconds, sent_before: before, failures } = report;
  const parts = [
    `${read === 1 ? 'order' : 'orders'} read`,
    ...(before > 0 ? [`${count(before)} of them sent by an earlier run`] : []),
    ...(report.repeated > 0 ? [`${count(report.repeated)} with the id of an order before it`] : []),
    ...(report.changed > 0 ? [`${count(report.changed)} with other content than the service has`] : []),
  ];
  const lines: [number, string][] = [
    [read, parts.join(', ')],
    ...STATUSES.flatMap((status): [number, string][] => {
      const different = status === 'duplicate' ? failures.filter(isDifferentDuplicate).length : 0;
      return [
        [statuses[status] - different, MEANINGS[status]],
        [different, DIFFERENT],
      ];
    }).filter(([number]) => number > 0),
    ...(refused > 0 ? [[refused, 'refused'] as [number, string]] : []),
  ];
  const width = Math.max(...lines.map(([number]) => count(number).length));
  const counts = lines.map(([number, meaning]) => `${count(number).padStart(width + 2)}  ${meaning}`);
  const reasons = Object.entries(report.refused_by_code).map(
    ([code, number]) => `${' '.repeat(width + 4)}${count(number)} × ${escapeControlsInLine(code)}`,
  );
  const speed =
    before > 0 && before === read
      ? 'nothing was left to send'
      : `in ${seconds.toFixed(1)} s, ${count(Math.round(report.orders_per_second))} orders/s`;
  return [...counts, ...reasons, speed, ...renderNotFollowed(report), ...renderFailures(report, failures)].join('\n');
}

function isDifferentDuplicate({ status, changed = [] }: FailedOrder): boolean {
  return status === 'duplicate' && changed.length > 0;
}

function renderNotFollowed({ not_asked: reason, statuses }: Report): string[] {
  if (reason === null) return [];
  const lost = `All orders were sent, but the outcome of ${count(statuses.pending)} could not be retrieved.`;
  return [escapeControlsInLine(`${lost} ${reason} Run the same command again later, or give --no-wait not to ask.`)];
}

/** Max failures in the text if a file has all of them. */
const MAX_LINES = 100;

function renderFailures({ failed_file: file, listed }: Report, failures: readonly FailedOrder[]): string[] {
  if (failures.length === 0) return [];
  const shown = file ? failures.slice(0, MAX_LINES) : failures;
  const more = listed > shown.length ? [`  and ${count(listed - shown.length)} more`] : [];
  return [
    '',
    ...shown.map((failure) => `  ${renderFailure(failure)}`),
    ...more,
    ...(file ? [`All of them: ${escapeControlsInLine(file)}`] : []),
  ];
}

/** An order that needs attention, on one line. */
export function renderFailure({
  place,
  line,
  source_order_id: id,
  code,
  detail,
  repeats,
  errors = [],
}: FailedOrder): string {
  const [first] = errors;
  const more = errors.length > 1 ? ` And ${plural(errors.length - 1, 'more error')}.` : '';
  const reason = first ? ` at ${first.pointer}: ${first.detail}${more}` : `: ${detail}`;
  const also = repeats === undefined || code === 'repeated_id' ? '' : ` It has the id of order ${repeats}.`;
  return escapeControlsInLine(`order ${place}, line ${line}${id === null ? '' : ` (${id})`}: ${code}${reason}${also}`);
}
