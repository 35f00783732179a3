import { createAccount } from '@orders/database/accounts/accounts.ts';
import { closeDatabase, openDatabase } from '@orders/database/connect.ts';
import { setEvents } from '@orders/database/events/event-logs.ts';
import { migrate } from '@orders/database/migrate.ts';
import { connectionOf, openKnex } from '@orders/test-services/open-knex.ts';
import { publishEvents } from '@orders/worker/publish-events-sql.ts';
import { OURS, OURS_WITH_EVENTS } from '../contestants.ts';
import type { Measurement } from '../measure/measure.ts';
import { median } from '../measure/statistics.ts';
import { type BatchCost, makeSampleOrder, measureStatement, writeBatch } from '../measure/write-batch.ts';
import { ratioByRound, renderRatio, serviceCpuMicroseconds } from '../report/ratios.ts';
import { table } from '../report/tables.ts';
import { QUOTED_LOAD, runRounds } from '../rounds.ts';
import type { Services } from '../services.ts';

/** The costs of accounts without events and with them, measured alternately in one run. */
export interface EventsResult {
  /** `writeOrders` of one batch each, for an account without and with events, and then the publishing of its events. */
  batches: { without: BatchCost[]; with: BatchCost[]; published: BatchCost[] };
  /** The service end to end. */
  measurements: Measurement[];
}

interface Options {
  rounds: number;
  batches: number;
  seconds: number;
}

const BATCH = 500;
const WARM_UP_BATCHES = 10;

export async function runEvents(
  services: Services,
  { batches, rounds, ...options }: Options,
  printProgress: (text: string) => void,
): Promise<EventsResult> {
  printProgress(`${batches} batches without and with events …`);
  const written = await writeBatches(services, batches);
  const plan = { ...options, rounds, contestants: [OURS, OURS_WITH_EVENTS], loads: [QUOTED_LOAD] };
  return { batches: written, measurements: await runRounds(services, plan, printProgress) };
}

/** Writes the batches of both accounts to the same tables. */
async function writeBatches(services: Services, count: number): Promise<EventsResult['batches']> {
  const url = await services.fresh('events');
  const knex = openKnex({ url });
  const database = openDatabase({ url, poolSize: 1, prepared: true, bulk: true });
  try {
    await migrate(connectionOf(knex));
    const accountIds: number[] = [];
    for (const name of ['without', 'with']) accountIds.push((await createAccount(connectionOf(knex), name)).account_id);
    const [without, withEvents] = accountIds as [number, number];
    await setEvents(connectionOf(knex), withEvents, true);
    const { rows } = await database.pool.query('select pg_backend_pid() as pid');
    const writer = { database, backendPid: rows[0].pid };
    const costs: EventsResult['batches'] = { without: [], with: [], published: [] };
    for (let number = -WARM_UP_BATCHES; number < count; number += 1) {
      const orders = Array.from({ length: BATCH }, (_, index) => makeSampleOrder(number * BATCH + index));
      const write = {
        without: () => writeBatch(writer, without, orders),
        with: () => writeBatch(writer, withEvents, orders),
      };
      for (const name of number % 2 ? (['without', 'with'] as const) : (['with', 'without'] as const)) {
        const cost = await write[name]();
        if (number >= 0) costs[name].push(cost);
      }
      const cost = await measureStatement(writer, () =>
        publishEvents(database, { perAccount: BATCH, total: BATCH }, 0),
      );
      if (number >= 0) costs.published.push(cost);
    }
    return costs;
  } finally {
    await closeDatabase(database);
    await knex.destroy();
    await services.drop(url);
  }
}

/** Formats the results as Markdown tables, with the ratios of accounts with events to those without. */
export function renderEvents({ batches, measurements }: EventsResult): string {
  const of = (costs: readonly BatchCost[]) => ({
    perSecond: (BATCH * 1000) / median(costs.map(({ ms }) => ms)),
    microseconds: sum(costs.map((cost) => cost.microseconds)) / (costs.length * BATCH),
    walBytes: sum(costs.map((cost) => cost.walBytes)) / (costs.length * BATCH),
  });
  const [without, withEvents, published] = [of(batches.without), of(batches.with), of(batches.published)];
  const row = (what: string, { perSecond, microseconds, walBytes }: ReturnType<typeof of>) => [
    what,
    perSecond.toFixed(0),
    `${microseconds.toFixed(1)} µs`,
    `${walBytes.toFixed(0)} B`,
  ];
  const writes = table(
    ['500 orders at once', 'orders/s', 'CPU of Postgres', 'WAL'],
    [
      row('written without events', without),
      row('written with events', withEvents),
      row('events published', published),
      [
        'with ÷ without',
        ratio(withEvents.perSecond, without.perSecond),
        ratio(withEvents.microseconds, without.microseconds),
        ratio(withEvents.walBytes, without.walBytes),
      ],
    ],
  );
  return `${writes}\n\n${renderEndToEnd(measurements)}`;
}

function renderEndToEnd(measurements: readonly Measurement[]): string {
  const medians = (name: string) =>
    METRICS.map(([unit, metric]) => {
      const rounds = measurements.filter(({ contestant }) => contestant === name);
      return `${median(rounds.map(metric)).toFixed(0)}${unit}`;
    });
  return table(
    ['end to end, medians', 'orders/s', 'CPU of the service', 'of Postgres', 'WAL'],
    [
      ['without events', ...medians(OURS.name)],
      ['with events', ...medians(OURS_WITH_EVENTS.name)],
      [
        'with ÷ without, by round',
        ...METRICS.map(([, metric]) =>
          renderRatio(ratioByRound(measurements, [OURS_WITH_EVENTS.name, OURS.name], metric)),
        ),
      ],
    ],
  );
}

const METRICS: [unit: string, metric: (measurement: Measurement) => number][] = [
  ['', ({ ordersPerSecond }) => ordersPerSecond],
  [' µs', serviceCpuMicroseconds],
  [' µs', ({ cpuSecondsPer1000 }) => cpuSecondsPer1000.postgres * 1000],
  [' B', ({ walBytesPerOrder }) => walBytesPerOrder],
];
const sum = (values: readonly number[]) => values.reduce((total, value) => total + value, 0);
const ratio = (value: number, base: number) => (value / base).toFixed(2);
