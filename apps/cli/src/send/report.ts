import { setTimeout as sleep } from 'node:timers/promises';
import type { TableFacts } from '@orders/order-files/read-table.ts';
import type { Context } from '../context.ts';
import { escapeControlsInLine } from '../sanitize.ts';
import { count, plural } from '../table.ts';
import type { FailedOrder, FailedOrders } from './failed-orders.ts';

/** The outcome of an input's orders: `read` is the sum of `rejected` and all statuses. */
export interface Report extends TableFacts {
  read: number;
  /** Orders with the source_order_id of an earlier one. */
  repeated: number;
  /** Orders that had arrived before this run. */
  sent_before: number;
  rejected: number;
  /** Accepted orders by status. */
  statuses: Record<Status, number>;
  /** Why the service could not be asked for the outcome of pending orders, as a sentence; null otherwise. */
  not_asked: string | null;
  /** Duration of this run, from its start to the last reply to an order. */
  seconds: number;
  orders_per_second: number;
}

const MEANINGS = {
  written: 'written',
  duplicate: 'sent before, with the same content (duplicate)',
  dead: 'dead: could not be written; ask the operator, or send the file of failures',
  failed: 'failed so far: the service tries again; run the same command again to ask',
  pending: 'accepted, not known to be written yet; run the same command again to ask',
  unknown: 'accepted, but the outcome is unknown',
  not_followed: 'accepted; the outcome was not requested',
};
export type Status = keyof typeof MEANINGS;
export const STATUSES = Object.keys(MEANINGS) as Status[];
/** Max failed orders in the text; `--json` has all of them. */
const MAX_SHOWN = 20;
const WRITTEN_CHARACTERS = 2 ** 18;

/** Prints counts, and the failed orders: with `--json` all, of which only one is in memory. */
export async function printResult(
  { cliContext: { stdout } }: Context,
  { json }: { json?: boolean },
  { orders, path }: { orders: FailedOrders; path: string | null },
  result: object,
  render: () => string,
): Promise<void> {
  const { failed, sendable } = orders.counts;
  const failed_file = sendable > 0 ? path : null;
  if (!json) {
    const lines = failed > 0 ? await renderFailures(orders, failed_file) : [];
    stdout.write(`${[render(), ...lines].join('\n')}\n`);
    return;
  }
  const failed_by_code = Object.fromEntries(orders.byCode);
  const head = JSON.stringify({ ...result, failed, failed_by_code, failed_file }, null, 2);
  stdout.write(`${head.slice(0, -2)},\n  "failures": [`);
  let [separator, lines] = ['\n    ', ''];
  for await (const failure of orders.failures()) {
    lines += separator + JSON.stringify(failure);
    separator = ',\n    ';
    if (lines.length < WRITTEN_CHARACTERS) continue;
    stdout.write(lines);
    lines = '';
    // Otherwise all of them would be in memory while the reader is slower.
    while (stdout.writableNeedDrain) await sleep(10);
  }
  stdout.write(lines);
  stdout.write(`${failed > 0 ? '\n  ' : ''}]\n}\n`);
}

const SOME_FAILED =
  'Some orders differ from what the service has, have the id of another one, or have rows that contradict each other.';

/** Why a run is not complete, as a sentence; null if nothing is left to do. */
export function incompleteReason({ rejected, statuses, not_asked }: Report, failed: number): string | null {
  if (rejected + statuses.dead + statuses.failed + statuses.pending + statuses.unknown > 0)
    return `Not all orders are ${not_asked === null ? '' : 'known to be '}written.`;
  return failed > 0 ? SOME_FAILED : null;
}

/** @param differing number of orders with other content than the service has. */
export function renderReport(report: Report, differing: number): string {
  const { read, rejected, statuses, seconds, sent_before: before } = report;
  const parts = [
    `${read === 1 ? 'order' : 'orders'} read`,
    ...(before > 0 ? [`${count(before)} of them sent before`] : []),
    ...(report.repeated > 0 ? [`${count(report.repeated)} with the id of an order before it`] : []),
  ];
  const lines: [number, string][] = [
    ...STATUSES.map((status): [number, string] => [
      statuses[status] - (status === 'duplicate' ? differing : 0),
      MEANINGS[status],
    ]),
    [differing, 'sent before, with other content (duplicate)'],
    [rejected, 'rejected'],
  ];
  const shown = [[read, parts.join(', ')] as [number, string], ...lines.filter(([number]) => number > 0)];
  const width = Math.max(...shown.map(([number]) => count(number).length));
  return [
    ...renderFacts(report),
    ...shown.map(([number, meaning]) => `${count(number).padStart(width + 2)}  ${meaning}`),
    `in ${seconds.toFixed(1)} s, ${count(Math.round(report.orders_per_second))} orders/s`,
    ...renderNotAsked(report),
  ].join('\n');
}

/** The export that a table is, and its orders that are left out. */
export function renderFacts({ recognized, left_out }: TableFacts): string[] {
  if (recognized === null) return [];
  const { cancelled, finished, ignored } = left_out;
  const parts: [number, string][] = [
    [cancelled, 'cancelled'],
    [finished, 'fulfilled, completed or refunded'],
    [ignored, 'drafts or deleted'],
  ];
  const shown = parts.filter(([number]) => number > 0).map(([number, meaning]) => `${count(number)} ${meaning}`);
  return [
    `The table is an export of ${recognized}.`,
    ...(shown.length > 0 ? [`Orders left out, as there is nothing to deliver: ${shown.join(', ')}.`] : []),
  ];
}

function renderNotAsked({ not_asked: reason, statuses }: Report): string[] {
  if (reason === null) return [];
  const lost = `All orders were sent, but the outcome of ${count(statuses.pending)} could not be retrieved.`;
  return [escapeControlsInLine(`${lost} ${reason} Run the same command again later, or give --no-wait not to ask.`)];
}

async function renderFailures(orders: FailedOrders, file: string | null): Promise<string[]> {
  const { failed, sendable } = orders.counts;
  const codes = [...orders.byCode].map(([code, number]) => `${count(number)} × ${code}`);
  const shown: string[] = [];
  for await (const failure of orders.failures()) {
    if (shown.length === MAX_SHOWN) break;
    shown.push(`  ${renderFailure(failure)}`);
  }
  const which =
    failed === sendable ? 'All of them' : `All but ${count(failed - sendable)} that must be corrected in the input`;
  return [
    '',
    escapeControlsInLine(`${plural(failed, 'order')} failed: ${codes.join(', ')}`),
    ...shown,
    ...(failed > shown.length ? [`  and ${count(failed - shown.length)} more; --json lists all`] : []),
    ...(file ? [escapeControlsInLine(`${which}, to correct and send: ${file}`)] : []),
  ];
}

/** An order that needs attention, on one line. */
function renderFailure(failure: FailedOrder): string {
  const { position, line, source_order_id: id, code, detail, repeats, errors = [] } = failure;
  const [first] = errors;
  const more = errors.length > 1 ? ` And ${plural(errors.length - 1, 'more error')}.` : '';
  const reason = first ? ` at ${first.pointer}: ${first.detail}${more}` : `: ${detail}`;
  const also = repeats === undefined || code === 'repeated_id' ? '' : ` It has the id of order ${repeats}.`;
  return escapeControlsInLine(
    `order ${position}, line ${line}${id === null ? '' : ` (${id})`}: ${code}${reason}${also}`,
  );
}
