import { ROLES, type Role } from '../measure/measure.ts';
import type { Row, Summary, Target } from './summary.ts';

const SOURCES: Record<Role, string> = {
  intake: 'intake',
  worker: 'worker',
  postgres: 'Postgres',
  redis: 'Redis',
  driver: 'driver',
};

/** Formats the summary as Markdown tables. */
export function renderTables({ rows, ratios, targets }: Summary): string {
  const loads = [...new Set(rows.map(({ load }) => load))];
  const sections = loads.map((load) =>
    renderLoad(
      load,
      rows.filter((row) => row.load === load),
    ),
  );
  const ratioLine = Object.entries(ratios)
    .filter(([, value]) => !Number.isNaN(value))
    .map(([name, value]) => `${name} ${digits(value)}`)
    .join(' · ');
  return [...sections, ...(targets.length > 0 ? [renderTargets(targets)] : []), ...(ratioLine ? [ratioLine] : [])].join(
    '\n\n',
  );
}

/** Formats targets as a Markdown table. */
export function renderTargets(targets: readonly Target[]): string {
  return table(
    ['', 'measured', 'enough', 'goal'],
    targets.map(({ what, value, enough, goal }) => [what, digits(value), `${enough}`, `${goal}`]),
  );
}

function renderLoad(load: string, rows: readonly Row[]): string {
  const title = load.startsWith('open-') ? `Open loop, ${load.slice(5)} orders/s` : `Closed loop, ${load} connections`;
  const speed = table(
    ['', 'accepted/s', 'orders/s', 'of rounds', '202 p50', 'p99', 'written p50', 'p99', 'backlog'],
    rows.map((row) => [
      row.contestant,
      digits(row.acceptedPerSecond),
      row.faults.length > 0 ? `FAILED: ${row.faults[0]}` : digits(row.ordersPerSecond),
      row.ordersPerSecondSpread.map(digits).join('–'),
      milliseconds(row.replyP50),
      milliseconds(row.replyP99),
      milliseconds(row.writtenP50),
      milliseconds(row.writtenP99),
      Number.isNaN(row.backlogSeconds) ? '' : `${digits(row.backlogSeconds)} s`,
    ]),
  );
  const cost = table(
    ['', ...ROLES.map((role) => `CPU ${SOURCES[role]}`), 'all', 'memory intake', 'worker', 'WAL', 'Redis commands'],
    rows.map((row) => [
      row.contestant,
      ...ROLES.map((role) => digits(row.cpuSecondsPer1000[role])),
      digits(ROLES.reduce((sum, role) => sum + row.cpuSecondsPer1000[role], 0)),
      `${digits(row.memoryMiB.intake)} MiB`,
      `${digits(row.memoryMiB.worker)} MiB`,
      `${digits(row.walBytesPerOrder)} B`,
      digits(row.redisCommandsPerOrder),
    ]),
  );
  return `### ${title}\n\n${speed}\n\nCPU-seconds per 1,000 orders, peak memory, and WAL and Redis commands an order:\n\n${cost}`;
}

/** Three significant digits, or a whole number from 100. */
export function digits(value: number): string {
  if (Number.isNaN(value)) return '';
  if (Math.abs(value) >= 100) return Math.round(value).toLocaleString('en');
  return String(Number(value.toPrecision(3)));
}

function milliseconds(value: number): string {
  return Number.isNaN(value) ? '' : `${digits(value)} ms`;
}

/** Formats a Markdown table. All columns except the first are right-aligned. */
export function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const widths = head.map((title, column) => Math.max(title.length, ...rows.map((row) => (row[column] ?? '').length)));
  const line = (cells: readonly string[]) =>
    `| ${cells.map((cell, column) => (column === 0 ? cell.padEnd(widths[column] ?? 0) : cell.padStart(widths[column] ?? 0))).join(' | ')} |`;
  const rule = `| ${widths.map((width, column) => (column === 0 ? '-'.repeat(width) : `${'-'.repeat(width - 1)}:`)).join(' | ')} |`;
  return [line(head), rule, ...rows.map(line)].join('\n');
}
