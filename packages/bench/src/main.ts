import { cpus, totalmem } from 'node:os';
import { Command, InvalidArgumentError, Option } from 'commander';
import { hasFailed, renderAging, runAging } from './aging/aging.ts';
import { renderBatches, runBatches } from './batches/batches.ts';
import { parseNames, parseWholeNumber, printProgress, runProgram, withServices, writeJson } from './command-line.ts';
import { ALL, type Contestant, OURS } from './contestants.ts';

import { renderEvents, runEvents } from './events/events.ts';
import { renderFootprint, runFootprint } from './footprint/footprint.ts';
import { renderGrowth, runGrowth } from './growth/growth.ts';
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
import { COMFORTABLE_LOAD, parseLoad, runRounds } from './rounds.ts';
import { renderSend, runSend } from './send/send.ts';
import { POSTGRES_SETTINGS, startServices } from './services.ts';

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

const program = new Command('npm run bench --')
  .description('Measures the service side by side with comparable ones, on its own Postgres and Redis.')
  .option('--only <names>', `contestants, of ${ALL.map((one) => one.name).join(',')}`, parseNames(ALL))
  .option('--loads <loads>', 'numbers of connections, open-<orders a second>, open-40%', loadsNamed, DEFAULT_LOADS)
  .addOption(sharedOption('rounds'))
  .addOption(sharedOption('seconds'))
  .addOption(sharedOption('json'))
  .option('--chart <file>', 'draw the rates at 128 connections as SVG')
  .option('--profile <directory>', 'write a CPU profile of every process there')
  .addHelpText(
    'after',
    '\nExit code 0: measured, and this service wrote every order it accepted once. 1: not so, or it could not run. 2: wrong usage.',
  )
  .action(compare);

program
  .command('growth')
  .description('Compares an empty database with one of millions of orders, and runs several workers on one queue.')
  .option('--rows <number>', 'orders stored beforehand', parseWholeNumber, 10_000_000)
  .addOption(sharedOption('rounds'))
  .addOption(sharedOption('seconds'))
  .addOption(sharedOption('json'))
  .action((_, command: Command) => growth(command.optsWithGlobals()));

program
  .command('aging')
  .description('Simulates TTLs of idempotency keys and weeks of receipts under load, and measures maintenance.')
  .option('--cycles <number>', 'number of cycles of one TTL and two weeks', parseWholeNumber, 3)
  .option('--keys <number>', 'idempotency keys added in each cycle, half of them expired', parseWholeNumber, 100_000)
  .option('--receipts <number>', 'receipts in each dropped week', parseWholeNumber, 20_000)
  .addOption(sharedOption('seconds'))
  .addOption(sharedOption('json'))
  .action((_, command: Command) => aging(command.optsWithGlobals()));

program
  .command('batches')
  .description('Compares orders sent one by one with batches of one sender.')
  .addOption(sharedOption('rounds'))
  .addOption(sharedOption('seconds'))
  .addOption(sharedOption('json'))
  .action((_, command: Command) => batches(command.optsWithGlobals()));

program
  .command('overload')
  .description('Sends this service twice the load that it can accept.')
  .addOption(sharedOption('seconds'))
  .addOption(sharedOption('json'))
  .action((_, command: Command) => overload(command.optsWithGlobals()));

program
  .command('fairness')
  .description('Measures how a flood of one account (small orders, large bodies) affects another account.')
  .addOption(sharedOption('seconds'))
  .addOption(sharedOption('json'))
  .addHelpText(
    'after',
    '\nExit code 0: none of the first account was refused. 1: some were, or it could not run. 2: wrong usage.',
  )
  .action((_, command: Command) => fairness(command.optsWithGlobals()));

program
  .command('review')
  .description('Opens, filters and searches a list of 10,000 orders that need review, then one of a million.')
  .option('--rows <number>', 'orders in the large list', parseWholeNumber, 1_000_000)
  .option('--write-rounds <number>', 'batches to write with and without the indexes of the list', parseWholeNumber, 100)
  .addOption(sharedOption('json'))
  .action((_, command: Command) => review(command.optsWithGlobals()));

program
  .command('send')
  .description('Compares orders send with a closed loop on the same kind of stack, alternately.')
  .option('--orders <number>', 'in the file', parseWholeNumber, 100_000)
  .addOption(sharedOption('rounds'))
  .addOption(sharedOption('seconds'))
  .addOption(sharedOption('json'))
  .action((_, command: Command) => send(command.optsWithGlobals()));

program
  .command('events')
  .description('Compares accounts without events and with them, alternately: the writing of orders, and end to end.')
  .option('--batches <number>', 'batches of 500 orders to write', parseWholeNumber, 100)
  .addOption(sharedOption('rounds'))
  .addOption(sharedOption('seconds'))
  .addOption(sharedOption('json'))
  .action((_, command: Command) => events(command.optsWithGlobals()));

program
  .command('footprint')
  .description('Measures start-up time, idle memory and image size, of the bundle and of the sources.')
  .option('--image <name>', 'the image to measure, as built by docker build')
  .addOption(sharedOption('rounds'))
  .addOption(sharedOption('json'))
  .addHelpText(
    'after',
    '\nIt builds the bundle as the Dockerfile does, and needs the portal’s page (npm run build).\nReady is when the admin port answers 200 on /health/ready. Each round starts both variants.',
  )
  .action((_, command: Command) => footprint(command.optsWithGlobals()));

program
  .command('large')
  .description(
    'Sends orders of 64 KB, 256 KB and 1,000 items, and compares MB/s with an Express app that only validates.',
  )
  .addOption(sharedOption('rounds'))
  .addOption(sharedOption('seconds'))
  .addOption(sharedOption('json'))
  .action((_, command: Command) => large(command.optsWithGlobals()));

program
  .command('replicas')
  .description('Compares two intakes and two workers with one of each under the same load, alternately.')
  .addOption(sharedOption('rounds'))
  .addOption(sharedOption('seconds'))
  .addOption(sharedOption('json'))
  .action((_, command: Command) => replicas(command.optsWithGlobals()));

function sharedOption(name: 'rounds' | 'seconds' | 'json'): Option {
  if (name === 'json') return new Option('--json <file>', 'write all figures there');
  if (name === 'rounds')
    return new Option('--rounds <number>', 'of each measurement').argParser(parseWholeNumber).default(3);
  return new Option('--seconds <number>', 'of load in each measurement').argParser(parseWholeNumber).default(8);
}

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
}

const WARM_UP_SECONDS = 3;

async function compare(options: Options): Promise<void> {
  const { loads, rounds, seconds } = options;
  const contestants = options.only ?? ALL;
  const measurements = await withServices(startServices, (services) =>
    runRounds(
      services,
      { contestants, loads, rounds, seconds, warmUpSeconds: WARM_UP_SECONDS, profileTo: options.profile },
      printProgress,
    ),
  );
  const summary = summarize(measurements);
  process.stdout.write(`${renderTables(summary)}\n`);
  if (options.json) await writeJson(options.json, { ...conditions(options), ...summary, measurements });
  if (options.chart) await drawChart(summary.rows, options.chart);
  const failed = measurements.filter(({ contestant, faults }) => contestant === OURS.name && faults.length > 0);
  if (failed.length > 0) process.exitCode = 1;
}

async function growth(options: Options): Promise<void> {
  const { rows, rounds, seconds } = options;
  const result = await withServices(startServices, (services) =>
    runGrowth(services, { rows, rounds, seconds, warmUpSeconds: WARM_UP_SECONDS }, printProgress),
  );
  process.stdout.write(`${renderGrowth(result)}\n`);
  if (options.json) await writeJson(options.json, { ...conditions(options), ...result });
  const all = [...result.empty, ...result.filled, ...result.workers.map(({ measurement }) => measurement)];
  if (all.some(({ faults }) => faults.length > 0)) process.exitCode = 1;
}

async function aging(options: Options): Promise<void> {
  const result = await withServices(startServices, (services) => runAging(services, options, printProgress));
  process.stdout.write(`${renderAging(result)}\n`);
  if (options.json) await writeJson(options.json, { ...conditions(options), ...result });
  if (hasFailed(result)) process.exitCode = 1;
}

async function batches(options: Options): Promise<void> {
  const rates = await withServices(startServices, (services) => runBatches(services, options, printProgress));
  process.stdout.write(`${renderBatches(rates)}\n`);
  if (options.json) await writeJson(options.json, { ...conditions(options), rates });
}

async function overload(options: Options): Promise<void> {
  const result = await withServices(startServices, (services) => runOverload(services, options, printProgress));
  process.stdout.write(`${renderOverload(result)}\n`);
  if (options.json) await writeJson(options.json, { ...conditions(options), ...result });
  if (result.lost + result.doubled > 0) process.exitCode = 1;
}

async function fairness(options: Options): Promise<void> {
  const { result, largeBodies } = await withServices(startServices, async (services) => ({
    result: await runFairness(services, options, printProgress),
    largeBodies: await runLargeBodies(services, options, printProgress),
  }));
  process.stdout.write(`${renderFairness(result)}\n\n${renderLargeBodies(largeBodies)}\n`);
  if (options.json) await writeJson(options.json, { ...conditions(options), ...result, largeBodies });
  const refused = largeBodies.reduce((sum, { quiet }) => sum + quiet.refused, result.refused);
  if (refused > 0) process.exitCode = 1;
}

const FEW_ORDERS = 10_000;

async function review(options: Options): Promise<void> {
  const { result, writes } = await withServices(startServices, async (services) => ({
    writes: await measureWrites(services, options.writeRounds, printProgress),
    result: await runReview(services, [FEW_ORDERS, options.rows], printProgress),
  }));
  process.stdout.write(`${renderReview(result)}\n\n${renderWrites(writes)}\n`);
  if (options.json) await writeJson(options.json, { ...conditions(options), ...result, writes });
}

async function send(options: Options): Promise<void> {
  const { orders, rounds, seconds } = options;
  const results = await withServices(startServices, (services) =>
    runSend(services, { orders, rounds, seconds, warmUpSeconds: WARM_UP_SECONDS }, printProgress),
  );
  process.stdout.write(`${renderSend(results)}\n`);
  if (options.json) await writeJson(options.json, { ...conditions(options), results });
  for (const fault of results.flatMap(({ faults }) => faults)) printProgress(`FAILED: ${fault}`);
  if (results.some(({ faults }) => faults.length > 0)) process.exitCode = 1;
}

async function events(options: Options): Promise<void> {
  const { rounds, seconds, batches: count } = options;
  const result = await withServices(startServices, (services) =>
    runEvents(services, { rounds, seconds, batches: count, warmUpSeconds: WARM_UP_SECONDS }, printProgress),
  );
  process.stdout.write(`${renderEvents(result)}\n`);
  if (options.json) await writeJson(options.json, { ...conditions(options), ...result });
  if (result.measurements.some(({ faults }) => faults.length > 0)) process.exitCode = 1;
}

async function footprint(options: Options): Promise<void> {
  const result = await withServices(startServices, (services) => runFootprint(services, options, printProgress));
  process.stdout.write(`${renderFootprint(result)}\n`);
  if (options.json) await writeJson(options.json, { ...conditions(options), ...result });
}

async function large(options: Options): Promise<void> {
  const { rounds, seconds, profile: profileTo } = options;
  const results = await withServices(startServices, (services) =>
    runLarge(services, { rounds, seconds, warmUpSeconds: WARM_UP_SECONDS, profileTo }, printProgress),
  );
  process.stdout.write(`${renderLarge(results)}\n`);
  if (options.json) await writeJson(options.json, { ...conditions(options), results });
  if (results.some(({ measurements }) => measurements.some(({ faults }) => faults.length > 0))) process.exitCode = 1;
}

async function replicas(options: Options): Promise<void> {
  const { rounds, seconds, profile: profileTo } = options;
  const measurements = await withServices(startServices, (services) =>
    runReplicas(services, { rounds, seconds, warmUpSeconds: WARM_UP_SECONDS, profileTo }, printProgress),
  );
  process.stdout.write(`${renderReplicas(measurements)}\n`);
  if (options.json) await writeJson(options.json, { ...conditions(options), measurements });
  if (measurements.some(({ faults }) => faults.length > 0)) process.exitCode = 1;
}

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
