import { CEILING, OBVIOUS, OURS, PEER } from '../contestants.ts';
import { type Measurement, ROLES, type Role } from '../measure/measure.ts';
import { medians } from '../measure/statistics.ts';
import { COMFORTABLE_LOAD, QUOTED_LOAD } from '../rounds.ts';
import { digits, type Figure, renderFigures, table } from './tables.ts';

/** Medians over the rounds of one contestant under one load; NaN for missing values. */
export interface Row extends Omit<Measurement, 'refused'> {
  rounds: number;
  /** Min and max of the rounds. */
  ordersPerSecondSpread: [number, number];
}

export interface Summary {
  rows: Row[];
  /** Ratios of end-to-end orders per second at 128 connections. */
  ratios: Record<string, number>;
  targets: Figure[];
}

const TO_OBVIOUS: [what: string, load: string, figure: (row: Row) => number, enough: number, goal: number][] = [
  ['one connection: p50 accepted to written', '1', ({ written }) => written.p50, 1, 0.5],
  ['one connection: p50 of the 202', '1', ({ reply }) => reply.p50, 0.5, 0.4],
  [`load ${COMFORTABLE_LOAD}: p99 of the 202`, COMFORTABLE_LOAD, ({ reply }) => reply.p99, 0.8, 0.4],
  [`load ${COMFORTABLE_LOAD}: p99 accepted to written`, COMFORTABLE_LOAD, ({ written }) => written.p99, 1.2, 0.8],
];

/** Summarizes the measurements by contestant and load, in their order. */
export function summarize(measurements: readonly Measurement[]): Summary {
  const groups = Map.groupBy(measurements, ({ load, contestant }) => `${load} ${contestant}`);
  const rows = [...groups.values()].map(rowOf);
  const find = (name: string, load: string) => rows.find((row) => row.contestant === name && row.load === load);
  const ratio = (name: string, other: string, load: string, figure: (row: Row) => number) =>
    divide(find(name, load), find(other, load), figure);
  const rate = (row: Row) => row.ordersPerSecond;
  const ratios = {
    'ours/obvious': ratio(OURS.name, OBVIOUS.name, QUOTED_LOAD, rate),
    'ours/ceiling': ratio(OURS.name, CEILING.name, QUOTED_LOAD, rate),
    'ours/peer': ratio(OURS.name, PEER.name, QUOTED_LOAD, rate),
  };
  const ours = find(OURS.name, QUOTED_LOAD);
  const toObvious = TO_OBVIOUS.map(([what, load, figure, enough, goal]) => {
    const value = ratio(OURS.name, OBVIOUS.name, load, figure);
    return { what: `${what}, ours ÷ obvious`, value, enough, goal };
  });
  const targets: Figure[] = [
    { what: 'orders/s, ours ÷ obvious', value: ratios['ours/obvious'], enough: 11, goal: 13 },
    { what: 'orders/s, ours ÷ pg-boss', value: ratios['ours/peer'], enough: 3, goal: 5 },
    { what: 'backlog when the load ends, seconds', value: ours?.backlogSeconds ?? Number.NaN, enough: 1, goal: 0.2 },
    ...toObvious,
    { what: 'WAL bytes per order', value: ours?.walBytesPerOrder ?? Number.NaN, enough: 2500, goal: 1700 },
  ];
  return { rows, ratios, targets: targets.filter(({ value }) => !Number.isNaN(value)) };
}

function divide(row: Row | undefined, other: Row | undefined, figure: (row: Row) => number): number {
  return row && other && row.faults.length === 0 && other.faults.length === 0
    ? figure(row) / figure(other)
    : Number.NaN;
}

function rowOf(group: readonly Measurement[]): Row {
  const rates = group.map(({ ordersPerSecond }) => ordersPerSecond);
  const figures = group.map(({ refused: _, faults: __, ...others }) => others);
  return {
    ...medians(figures),
    rounds: group.length,
    faults: group.flatMap(({ faults }) => faults),
    ordersPerSecondSpread: [Math.min(...rates), Math.max(...rates)],
  };
}

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
  return [...sections, ...(targets.length > 0 ? [renderFigures(targets)] : []), ...(ratioLine ? [ratioLine] : [])].join(
    '\n\n',
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
      milliseconds(row.reply.p50),
      milliseconds(row.reply.p99),
      milliseconds(row.written.p50),
      milliseconds(row.written.p99),
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

function milliseconds(value: number): string {
  return Number.isNaN(value) ? '' : `${digits(value)} ms`;
}
