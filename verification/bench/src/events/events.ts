import { createAccount } from '@orders/database/accounts/accounts.ts';
import { setEvents } from '@orders/database/events/event-logs.ts';
import { migrate } from '@orders/database/migrate.ts';
import { connectionOf, withKnex } from '@orders/test-services/open-knex.ts';
import { publishEvents } from '@orders/worker/publish-events.ts';
import { type Bench, haveFaults, ROUNDS, SECONDS } from '../bench.ts';
import { printProgress } from '../command-line.ts';
import { OURS, OURS_WITH_EVENTS } from '../contestants.ts';
import type { Measurement } from '../measure/measure.ts';
import { median } from '../measure/statistics.ts';
import {
  BATCH,
  type BatchCost,
  costOfOrder,
  makeBatch,
  measureStatement,
  openWriter,
  renderCosts,
  writeBatch,
} from '../measure/write-batch.ts';
import { ratioByRound, renderRatio, serviceCpuMicroseconds } from '../report/ratios.ts';
import { table } from '../report/tables.ts';
import { QUOTED_LOAD, runRounds } from '../rounds.ts';
import type { Services } from '../services.ts';

/** `writeOrders` of one batch each, for an account without and with events, and then the publishing of its events. */
type Costs = Record<'without' | 'with' | 'published', BatchCost[]>;

const WARM_UP_BATCHES = 10;

/** Measures the costs of accounts without events and with them, alternately in one run. */
export const events: Bench = {
  name: 'events',
  description: 'Compares accounts without events and with them, alternately: the writing of orders, and end to end.',
  options: [ROUNDS, SECONDS, ['--batches <number>', 'batches of 500 orders to write', 100]],
  async run(services, options) {
    printProgress(`${options.batches} batches without and with events …`);
    const batches = await writeBatches(services, options.batches);
    const plan = { ...options, contestants: [OURS, OURS_WITH_EVENTS], loads: [QUOTED_LOAD] };
    const measurements = await runRounds(services, plan);
    return {
      text: `${renderBatches(batches)}\n\n${renderEndToEnd(measurements)}`,
      results: { batches, measurements },
      hasFailed: haveFaults(measurements),
    };
  },
};

/** Writes the batches of both accounts to the same tables. */
async function writeBatches(services: Services, count: number): Promise<Costs> {
  const url = await services.fresh('events');
  const accountIds = await withKnex({ url }, async (knex) => {
    await migrate(connectionOf(knex));
    const without = (await createAccount(connectionOf(knex), 'without')).account_id;
    const withEvents = (await createAccount(connectionOf(knex), 'with')).account_id;
    await setEvents(connectionOf(knex), withEvents, true);
    return { without, with: withEvents };
  });
  const writer = await openWriter(url);
  const costs: Costs = { without: [], with: [], published: [] };
  try {
    for (let number = -WARM_UP_BATCHES; number < count; number += 1) {
      const orders = makeBatch(number);
      const add = (name: keyof Costs, cost: BatchCost) => number >= 0 && costs[name].push(cost);
      for (const name of number % 2 ? (['without', 'with'] as const) : (['with', 'without'] as const))
        add(name, await writeBatch(writer, accountIds[name], orders));
      const publish = () => publishEvents(writer.database, { perAccount: BATCH, total: BATCH }, 0);
      add('published', await measureStatement(writer, publish));
    }
    return costs;
  } finally {
    await writer.close();
    await services.drop(url);
  }
}

function renderBatches(costs: Costs): string {
  const [without, withEvents] = [costOfOrder(costs.without), costOfOrder(costs.with)];
  const ratios = (['perSecond', 'microseconds', 'walBytes'] as const).map((figure) =>
    (withEvents[figure] / without[figure]).toFixed(2),
  );
  const cases = {
    'written without events': costs.without,
    'written with events': costs.with,
    'events published': costs.published,
  };
  return renderCosts(cases, [['with ÷ without', ...ratios, '']]);
}

const METRICS: [unit: string, metric: (measurement: Measurement) => number][] = [
  ['', ({ ordersPerSecond }) => ordersPerSecond],
  [' µs', serviceCpuMicroseconds],
  [' µs', ({ cpuSecondsPer1000 }) => cpuSecondsPer1000.postgres * 1000],
  [' B', ({ walBytesPerOrder }) => walBytesPerOrder],
];

function renderEndToEnd(measurements: readonly Measurement[]): string {
  const medians = (name: string) =>
    METRICS.map(([unit, metric]) => {
      const rounds = measurements.filter(({ contestant }) => contestant === name);
      return `${median(rounds.map(metric)).toFixed(0)}${unit}`;
    });
  const ratios = METRICS.map(([, metric]) =>
    renderRatio(ratioByRound(measurements, [OURS_WITH_EVENTS.name, OURS.name], metric)),
  );
  return table(
    ['end to end, medians', 'orders/s', 'CPU of the service', 'of Postgres', 'WAL'],
    [
      ['without events', ...medians(OURS.name)],
      ['with events', ...medians(OURS_WITH_EVENTS.name)],
      ['with ÷ without, by round', ...ratios],
    ],
  );
}
