import { escapeControlsInLine } from '../escape-controls.ts';
import type { FailedOrder } from './failures.ts';

/** What became of the orders of an input: `read` is the sum of `refused` and of all statuses. */
export interface Report {
  read: number;
  /** Of them, those with the source_order_id of one before. */
  repeated: number;
  /** Of them, those that differ from the order that the service has for their source_order_id, or had for their key. */
  changed: number;
  refused: number;
  /** How many were refused for each reason. */
  refused_by_code: Record<string, number>;
  /** How many of those accepted are how far. */
  statuses: Record<Status, number>;
  /** Why the service could not be asked what became of those that are pending, in a sentence; null where it could, or was not to be. */
  not_asked: string | null;
  /** What earlier runs had sent of them. */
  sent_before: number;
  /** Of this run, from its beginning to the last answer of the service to an order. */
  seconds: number;
  /** Answered in this run. */
  orders_per_second: number;
  /** Where each order that is refused, dead, unknown, changed or repeated stands, with its reason; null where there is none. */
  failed_file: string | null;
  /** How many these are. */
  listed: number;
  /** Of these, all that are changed or repeated, and the first of the others. */
  failures: FailedOrder[];
}

export const STATUSES = ['written', 'duplicate', 'dead', 'failed', 'pending', 'unknown', 'not_followed'] as const;
export type Status = (typeof STATUSES)[number];

const MEANINGS: Record<Status, string> = {
  written: 'written',
  duplicate: 'duplicate: the account had this order before',
  dead: 'dead: could not be written; ask the operator, or send them anew with --only-failed',
  failed: 'failed so far: the service tries again; run the same command again to ask',
  pending: 'accepted, not known to be written yet; run the same command again to ask',
  unknown: 'accepted, but what became of it is not known',
  not_followed: 'accepted; what became of it was not asked',
};

/** Why not all is done, in a sentence; null where nothing is left to be done or to be known. */
export function incompleteReason({ refused, statuses, not_asked, listed }: Report): string | null {
  if (refused + statuses.dead + statuses.failed + statuses.pending + statuses.unknown > 0)
    return `Not all orders are ${not_asked === null ? '' : 'known to be '}written.`;
  return listed > 0 ? 'Some orders differ from what the service has, or have the id of another one.' : null;
}

/** The report for people. */
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
    ...STATUSES.flatMap((status): [number, string][] =>
      statuses[status] > 0 ? [[statuses[status], MEANINGS[status]]] : [],
    ),
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

function renderNotFollowed({ not_asked: reason, statuses }: Report): string[] {
  if (reason === null) return [];
  const lost = `All orders were sent, but what became of ${count(statuses.pending)} could not be asked.`;
  return [escapeControlsInLine(`${lost} ${reason} Run the same command again later, or give --no-wait not to ask.`)];
}

/** Lines of failures on a terminal, where a file has them all. */
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

function renderFailure({ place, line, source_order_id: id, code, detail, repeats, errors = [] }: FailedOrder): string {
  const [first] = errors;
  const reason = first ? ` at ${first.pointer}: ${first.detail}` : `: ${detail}`;
  const also = repeats === undefined || code === 'repeated_id' ? '' : ` It has the id of order ${repeats}.`;
  return escapeControlsInLine(`order ${place}, line ${line}${id === null ? '' : ` (${id})`}: ${code}${reason}${also}`);
}

/** 12,345 */
export function count(number: number): string {
  return number.toLocaleString('en');
}
