import { cpus, totalmem } from 'node:os';
import { Command, InvalidArgumentError } from 'commander';
import { hasFailed as hasAgingFailed, renderAging, runAging } from './aging/aging.ts';
import { renderBatches, runBatches } from './batches/batches.ts';
import { parseNames, parseWholeNumber, printProgress, runProgram, withServices, writeJson } from './command-line.ts';
import { ALL, type Contestant, OURS } from './contestants.ts';
import { renderEvents, runEvents } from './events/events.ts';
import { renderFootprint, runFootprint } from './footprint/footprint.ts';
import { renderGrowth, runGrowth } from './growth/growth.ts';
import { renderIsolation, runIsolation } from './isolation/isolation.ts';
import { renderLarge, runLarge } from './large/large.ts';
import { renderFairness, runFairness } from './overload/fairness.ts';
import { renderLargeBodies, runLargeBodies } from './overload/large-bodies.ts';
import { renderOverload, runOverload } from './overload/overload.ts';
import { renderReplicas, runReplicas } from './replicas/replicas.ts';
import { drawChart } from './report/chart.ts';
import { summarize } from './report/summary.ts';
import { renderTables } from './report/tables.ts';
import { renderReview, runReview } from './review/review.ts';
import { measureWrites, renderWrites } from './review/write-cost.ts';
import { COMFORTABLE_LOAD, parseLoad, runRounds, type Timing } from './rounds.ts';
import { renderSend, runSend } from './send/send.ts';
import { POSTGRES_SETTINGS, type Services, startServices } from './services.ts';

const DEFAULT_LOADS = ['128', '1', '32', '512', 'open-1000', COMFORTABLE_LOAD];

const loadsNamed = (text: string): string[] => {
  try {
    return text.split(',').map((name) => {
      if (name !== COMFORTABLE_LOAD) parseLoad(name);
      return name;
    });
  } catch (error) {
    throw new InvalidArgumentError((error as Error).message);
  }
};

interface Options {
  only?: Contestant[];
  loads: string[];
  rounds: number;
  seconds: number;
  rows: number;
  writeRounds: number;
  batches: number;
  orders: number;
  cycles: number;
  keys: number;
  receipts: number;
  image?: string;
  json?: string;
  chart?: string;
  profile?: string;
  postgres?: string;
}

const SHARED_OPTIONS = {
  rounds: ['--rounds <number>', 'of each measurement', 3],
  seconds: ['--seconds <number>', 'of load in each measurement', 8],
} as const;

function addOptions(command: Command, shared: readonly (keyof typeof SHARED_OPTIONS)[]): Command {
  for (const name of shared) {
    const [flags, description, value] = SHARED_OPTIONS[name];
    command.option(flags, description, parseWholeNumber, value);
  }
  return command.option('--json <file>', 'write all figures there');
}

function addCommand(name: string, description: string, ...shared: (keyof typeof SHARED_OPTIONS)[]): Command {
  return addOptions(program.command(name).description(description), shared);
}

/** @returns the action of a command: it measures on new services, prints the result, and sets exit code 1 if it failed. */
function measure<T extends object>(
  run: (services: Services, options: Options) => Promise<T>,
  render: (result: T) => string,
  hasFailed: (result: T) => boolean = () => false,
) {
  return async (_: unknown, command: Command): Promise<void> => {
    const options = command.optsWithGlobals<Options>();
    const result = await withServices(
      () => startServices(options.postgres),
      (services) => run(services, options),
    );
    process.stdout.write(`${render(result)}\n`);
    if (options.json) await writeJson(options.json, { ...conditions(options), ...result });
    if (hasFailed(result)) process.exitCode = 1;
  };
}

const timingOf = ({ rounds, seconds, profile }: Options): Timing => ({
  rounds,
  seconds,
  profileTo: profile,
});

const haveFaults = (measurements: readonly { faults: readonly unknown[] }[]) =>
  measurements.some(({ faults }) => faults.length > 0);

const program = addOptions(
  new Command('npm run bench --')
    .description('Measures the service side by side with comparable ones, on its own Postgres and Redis.')
    .option('--only <names>', `contestants, of ${ALL.map((one) => one.name).join(',')}`, parseNames(ALL))
    .option('--loads <loads>', 'numbers of connections, open-<orders a second>, open-40%', loadsNamed, DEFAULT_LOADS)
    .option('--chart <file>', 'draw the rates at 128 connections as SVG')
    .option('--profile <directory>', 'write a CPU profile of every process there')
    .option('--postgres <directory>', 'the programs of another Postgres than the embedded one, such as one with LZ4')
    .addHelpText(
      'after',
      '\nExit code 0: measured, and this service wrote every order it accepted once. 1: not so, or it could not run. 2: wrong usage.',
    ),
  ['rounds', 'seconds'],
).action(
  measure(
    async (services, options) => {
      const plan = { ...timingOf(options), contestants: options.only ?? ALL, loads: options.loads };
      const measurements = await runRounds(services, plan, printProgress);
      const summary = summarize(measurements);
      if (options.chart) await drawChart(summary.rows, options.chart);
      return { ...summary, measurements };
    },
    renderTables,
    ({ measurements }) => haveFaults(measurements.filter(({ contestant }) => contestant === OURS.name)),
  ),
);

addCommand(
  'growth',
  'Compares an empty database with one of millions of orders, and runs several workers on one queue.',
  'rounds',
  'seconds',
)
  .option('--rows <number>', 'orders stored beforehand', parseWholeNumber, 10_000_000)
  .action(
    measure(
      (services, options) => runGrowth(services, { ...timingOf(options), rows: options.rows }, printProgress),
      renderGrowth,
      ({ empty, filled, workers }) =>
        haveFaults([...empty, ...filled, ...workers.map(({ measurement }) => measurement)]),
    ),
  );

addCommand(
  'aging',
  'Simulates TTLs of idempotency keys and weeks of receipts under load, and measures maintenance.',
  'seconds',
)
  .option('--cycles <number>', 'number of cycles of one TTL and two weeks', parseWholeNumber, 3)
  .option('--keys <number>', 'idempotency keys added in each cycle, half of them expired', parseWholeNumber, 100_000)
  .option('--receipts <number>', 'receipts in each dropped week', parseWholeNumber, 20_000)
  .action(measure((services, options) => runAging(services, options, printProgress), renderAging, hasAgingFailed));

addCommand('batches', 'Compares orders sent one by one with batches of one sender.', 'rounds', 'seconds').action(
  measure(
    async (services, options) => ({ rates: await runBatches(services, options, printProgress) }),
    ({ rates }) => renderBatches(rates),
  ),
);

addCommand('overload', 'Sends this service twice the load that it can accept.', 'seconds').action(
  measure(
    (services, options) => runOverload(services, options, printProgress),
    renderOverload,
    ({ lost, doubled }) => lost + doubled > 0,
  ),
);

addCommand(
  'fairness',
  'Measures how a flood of one account (small orders, large bodies) affects another account.',
  'seconds',
)
  .addHelpText(
    'after',
    '\nExit code 0: none of the first account was refused. 1: some were, or it could not run. 2: wrong usage.',
  )
  .action(
    measure(
      async (services, options) => ({
        ...(await runFairness(services, options, printProgress)),
        largeBodies: await runLargeBodies(services, options, printProgress),
      }),
      ({ largeBodies, ...fairness }) => `${renderFairness(fairness)}\n\n${renderLargeBodies(largeBodies)}`,
      ({ largeBodies, refused }) => refused > 0 || largeBodies.some(({ quiet }) => quiet.refused > 0),
    ),
  );

addCommand('isolation', 'Measures the orders of one account beside attacks of another, and alone.', 'seconds')
  .addHelpText(
    'after',
    '\nExit code 0: none of its requests was rejected. 1: some were, or it could not run. 2: wrong usage.',
  )
  .action(
    measure(
      (services, options) => runIsolation(services, options, printProgress),
      renderIsolation,
      ({ attacks }) => attacks.some(({ rejected }) => rejected > 0),
    ),
  );

const FEW_ORDERS = 10_000;

addCommand('review', 'Opens, filters and searches a list of 10,000 orders that need review, then one of a million.')
  .option('--rows <number>', 'orders in the large list', parseWholeNumber, 1_000_000)
  .option('--write-rounds <number>', 'batches to write with and without the indexes of the list', parseWholeNumber, 100)
  .action(
    measure(
      async (services, { writeRounds, rows }) => {
        const writes = await measureWrites(services, writeRounds, printProgress);
        return { ...(await runReview(services, [FEW_ORDERS, rows], printProgress)), writes };
      },
      ({ writes, ...result }) => `${renderReview(result)}\n\n${renderWrites(writes)}`,
    ),
  );

addCommand(
  'send',
  'Compares orders send with a closed loop on the same kind of stack, alternately.',
  'rounds',
  'seconds',
)
  .option('--orders <number>', 'in the file', parseWholeNumber, 100_000)
  .action(
    measure(
      async (services, options) => {
        const results = await runSend(services, { ...timingOf(options), orders: options.orders }, printProgress);
        for (const fault of results.flatMap(({ faults }) => faults)) printProgress(`FAILED: ${fault}`);
        return { results };
      },
      ({ results }) => renderSend(results),
      ({ results }) => haveFaults(results),
    ),
  );

addCommand(
  'events',
  'Compares accounts without events and with them, alternately: the writing of orders, and end to end.',
  'rounds',
  'seconds',
)
  .option('--batches <number>', 'batches of 500 orders to write', parseWholeNumber, 100)
  .action(
    measure(
      (services, options) => runEvents(services, { ...timingOf(options), batches: options.batches }, printProgress),
      renderEvents,
      ({ measurements }) => haveFaults(measurements),
    ),
  );

addCommand(
  'footprint',
  'Measures start-up time, idle memory and image size, of the bundle and of the sources.',
  'rounds',
)
  .option('--image <name>', 'the image to measure, as built by docker build')
  .addHelpText(
    'after',
    '\nIt builds the bundle as the Dockerfile does, and needs the portal’s page (npm run build).\nReady is when the admin port answers 200 on /health/ready. Each round starts both variants.',
  )
  .action(measure((services, options) => runFootprint(services, options, printProgress), renderFootprint));

addCommand(
  'large',
  'Sends orders of 64 KB, 256 KB and 1,000 items, and compares MB/s with an Express app that only validates.',
  'rounds',
  'seconds',
).action(
  measure(
    async (services, options) => ({ results: await runLarge(services, timingOf(options), printProgress) }),
    ({ results }) => renderLarge(results),
    ({ results }) => results.some(({ measurements }) => haveFaults(measurements)),
  ),
);

addCommand(
  'replicas',
  'Compares two intakes and two workers with one of each under the same load, alternately.',
  'rounds',
  'seconds',
).action(
  measure(
    async (services, options) => ({ measurements: await runReplicas(services, timingOf(options), printProgress) }),
    ({ measurements }) => renderReplicas(measurements),
    ({ measurements }) => haveFaults(measurements),
  ),
);

function conditions({ rounds, seconds }: Options) {
  const processors = cpus();
  return {
    at: new Date().toISOString(),
    machine: {
      processors: processors.length,
      model: processors[0]?.model,
      memoryGiB: Math.round(totalmem() / 2 ** 30),
    },
    node: process.version,
    postgresSettings: POSTGRES_SETTINGS,
    rounds,
    seconds,
  };
}

await runProgram(program, 'bench');
