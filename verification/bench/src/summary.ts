import { CEILING, OBVIOUS, OURS, PEER } from './contestants.ts';
import { type Measurement, ROLES, type Role } from './measure.ts';
import { COMFORTABLE_LOAD, QUOTED_LOAD } from './rounds.ts';
import { median, medians, ratioByRound } from './statistics.ts';
import { digits, type Figure, table } from './tables.ts';

/** Medians over the rounds of one contestant under one load; NaN for missing values. */
export interface Row extends Omit<Measurement, 'refused'> {
  rounds: number;
  /** Min and max of the rounds. */
  ordersPerSecondSpread: [number, number];
}

type Metric = (measurement: Measurement) => number;

const endToEnd: Metric = ({ ordersPerSecond }) => ordersPerSecond;

const RATIOS: [what: string, other: string, load: string, metric: Metric, enough?: number, goal?: number][] = [
  ['orders/s', OBVIOUS.name, QUOTED_LOAD, endToEnd, 11, 13],
  ['orders/s', PEER.name, QUOTED_LOAD, endToEnd, 3, 5],
  ['orders/s', CEILING.name, QUOTED_LOAD, endToEnd],
  ['one connection: p50 accepted to written', OBVIOUS.name, '1', ({ written }) => written.p50, 1, 0.5],
  ['one connection: p50 of the 202', OBVIOUS.name, '1', ({ reply }) => reply.p50, 0.5, 0.4],
  [`load ${COMFORTABLE_LOAD}: p99 of the 202`, OBVIOUS.name, COMFORTABLE_LOAD, ({ reply }) => reply.p99, 0.8, 0.4],
  [
    `load ${COMFORTABLE_LOAD}: p99 accepted to written`,
    OBVIOUS.name,
    COMFORTABLE_LOAD,
    ({ written }) => written.p99,
    1.2,
    0.8,
  ],
];

/** The figures with a target, as far as they were measured. */
export function targetsOf(measurements: readonly Measurement[]): Figure[] {
  const ratios = RATIOS.map(([what, other, load, metric, enough, goal]): Figure => {
    const under = measurements.filter((one) => one.load === load);
    const value = ratioByRound(under, [OURS.name, other], metric).median;
    return { what: `${what}, ours ÷ ${other}`, value, enough, goal };
  });
  const ours = measurements.filter(({ contestant, load }) => contestant === OURS.name && load === QUOTED_LOAD);
  const own = (metric: Metric) => median(ours.map(metric));
  const targets: Figure[] = [
    ...ratios,
    { what: 'backlog when the load ends, seconds', value: own((one) => one.backlogSeconds), enough: 1, goal: 0.2 },
    { what: 'WAL bytes per order', value: own((one) => one.walBytesPerOrder), enough: 2500, goal: 1700 },
  ];
  return targets.filter(({ value }) => !Number.isNaN(value));
}

const CHANGES: [what: string, metric: Metric, enough?: number, goal?: number][] = [
  ['orders/s', endToEnd, 1.05, 1.2],
  ['p50 of the 202', ({ reply }) => reply.p50, 1, 0.9],
  ['p50 accepted to written', ({ written }) => written.p50],
  ['CPU of intake per order', ({ cpuSecondsPer1000 }) => cpuSecondsPer1000.intake, 1, 0.85],
  ['CPU of the worker per order', ({ cpuSecondsPer1000 }) => cpuSecondsPer1000.worker, 0.9, 0.8],
  ['CPU of Postgres per order', ({ cpuSecondsPer1000 }) => cpuSecondsPer1000.postgres],
  ['CPU of Redis per order', ({ cpuSecondsPer1000 }) => cpuSecondsPer1000.redis],
];

/** Compares the service with another commit of it, under each load. */
export function changesOf(measurements: readonly Measurement[], other: string): Figure[] {
  return [...Map.groupBy(measurements, ({ load }) => load)].flatMap(([load, under]) =>
    CHANGES.map(([what, metric, enough, goal]) => {
      const { median: value } = ratioByRound(under, [OURS.name, other], metric);
      return { what: `load ${load}: ${what}, ours ÷ ${other}`, value, enough, goal };
    }),
  );
}

/** Summarizes the measurements by contestant and load, in their order. */
export function rowsOf(measurements: readonly Measurement[]): Row[] {
  return [...Map.groupBy(measurements, ({ load, contestant }) => `${load} ${contestant}`).values()].map((group) => {
    const rates = group.map(endToEnd);
    const figures = group.map(({ refused: _, faults: __, ...others }) => others);
    return {
      ...medians(figures),
      rounds: group.length,
      faults: group.flatMap(({ faults }) => faults),
      ordersPerSecondSpread: [Math.min(...rates), Math.max(...rates)],
    };
  });
}

const TITLES: Record<Role, string> = {
  intake: 'intake',
  worker: 'worker',
  postgres: 'Postgres',
  redis: 'Redis',
  driver: 'driver',
};

/** Formats the rows of each load as Markdown tables. */
export function renderLoads(rows: readonly Row[]): string {
  return [...Map.groupBy(rows, ({ load }) => load)].map(([load, ofLoad]) => renderLoad(load, ofLoad)).join('\n\n');
}

function renderLoad(load: string, rows: readonly Row[]): string {
  const title = load.startsWith('open-') ? `Open loop, ${load.slice(5)} orders/s` : `Closed loop, ${load} connections`;
  const speed = table(
    ['', 'accepted/s', 'orders/s', 'of rounds', '202 p50', 'p99', 'written p50', 'p99', 'backlog'],
    rows.map((row) => [
      row.contestant,
      digits(row.acceptedPerSecond),
      row.faults.length > 0 ? `FAILED: ${row.faults[0]}` : digits(row.ordersPerSecond),
      row.ordersPerSecondSpread.map((rate) => digits(rate)).join('–'),
      digits(row.reply.p50, ' ms'),
      digits(row.reply.p99, ' ms'),
      digits(row.written.p50, ' ms'),
      digits(row.written.p99, ' ms'),
      digits(row.backlogSeconds, ' s'),
    ]),
  );
  const cost = table(
    ['', ...ROLES.map((role) => `CPU ${TITLES[role]}`), 'all', 'memory intake', 'worker', 'WAL', 'Redis commands'],
    rows.map((row) => [
      row.contestant,
      ...ROLES.map((role) => digits(row.cpuSecondsPer1000[role])),
      digits(ROLES.reduce((sum, role) => sum + row.cpuSecondsPer1000[role], 0)),
      digits(row.memoryMiB.intake, ' MiB'),
      digits(row.memoryMiB.worker, ' MiB'),
      digits(row.walBytesPerOrder, ' B'),
      digits(row.redisCommandsPerOrder),
    ]),
  );
  return `### ${title}\n\n${speed}\n\nCPU-seconds per 1,000 orders, peak memory, and WAL and Redis commands an order:\n\n${cost}`;
}
