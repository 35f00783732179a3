import { visibleInLine } from '../visible.ts';
import type { FailedOrder } from './failures.ts';

/** What became of the orders of an input: `read` is the sum of `refused` and of all statuses. */
export interface Report {
  read: number;
  /** Of them, those with the source_order_id of one before. */
  repeated: number;
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
  /** Where each order that is refused, dead or unknown stands, with its reason; null where there is none. */
  failed_file: string | null;
  /** The first of them. */
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

/** Whether there is anything left to be done or to be known. */
export function isDone({ refused, statuses }: Report): boolean {
  return refused + statuses.dead + statuses.failed + statuses.pending + statuses.unknown === 0;
}

/** The report for people. */
export function renderReport(report: Report): string {
  const { read, refused, statuses, seconds, sent_before: before, failures } = report;
  const parts = [
    `${read === 1 ? 'order' : 'orders'} read`,
    ...(before > 0 ? [`${count(before)} of them sent by an earlier run`] : []),
    ...(report.repeated > 0 ? [`${count(report.repeated)} with the id of an order before it`] : []),
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
    ([code, number]) => `${' '.repeat(width + 4)}${count(number)} × ${visibleInLine(code)}`,
  );
  const speed =
    before > 0 && before === read
      ? 'nothing was left to send'
      : `in ${seconds.toFixed(1)} s, ${count(Math.round(report.orders_per_second))} orders/s`;
  return [...counts, ...reasons, speed, ...renderNotAsked(report), ...renderFailures(report, failures)].join('\n');
}

function renderNotAsked({ not_asked: why, statuses }: Report): string[] {
  if (why === null) return [];
  const lost = `All orders were sent, but what became of ${count(statuses.pending)} could not be asked.`;
  return [visibleInLine(`${lost} ${why} Run the same command again later, or give --no-wait not to ask.`)];
}

function renderFailures({ failed_file: file, refused, statuses }: Report, failures: readonly FailedOrder[]): string[] {
  if (failures.length === 0) return [];
  const all = refused + statuses.dead + statuses.unknown;
  const more = all > failures.length ? [`  and ${count(all - failures.length)} more`] : [];
  return [
    '',
    ...failures.map((failure) => `  ${renderFailure(failure)}`),
    ...more,
    ...(file ? [`All of them: ${visibleInLine(file)}`] : []),
  ];
}

function renderFailure({ place, line, source_order_id: id, code, detail, errors = [] }: FailedOrder): string {
  const [first] = errors;
  const why = first ? ` at ${first.pointer}: ${first.detail}` : `: ${detail}`;
  return visibleInLine(`order ${place}, line ${line}${id === null ? '' : ` (${id})`}: ${code}${why}`);
}

/** 12,345 */
export function count(number: number): string {
  return number.toLocaleString('en');
}
