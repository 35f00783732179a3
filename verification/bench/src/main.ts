import { cpus, totalmem } from 'node:os';
import { Command, InvalidArgumentError } from 'commander';
import { aging } from './aging/aging.ts';
import { batches } from './batches/batches.ts';
import { type Bench, haveFaults, type Options, ROUNDS, SECONDS } from './bench.ts';
import { parseNames, parseWholeNumber, runProgram, withServices, writeJson } from './command-line.ts';
import { ALL, OURS } from './contestants.ts';
import { events } from './events/events.ts';
import { footprint } from './footprint/footprint.ts';
import { growth } from './growth/growth.ts';
import { isolation } from './isolation/isolation.ts';
import { large } from './large/large.ts';
import { fairness } from './overload/large-bodies.ts';
import { overload } from './overload/overload.ts';
import { replicas } from './replicas/replicas.ts';
import { drawChart } from './report/chart.ts';
import { renderTables, summarize } from './report/summary.ts';
import { review } from './review/review.ts';
import { COMFORTABLE_LOAD, parseLoad, runRounds } from './rounds.ts';
import { send } from './send/send.ts';
import { POSTGRES_SETTINGS, startServices } from './services.ts';

const COMMANDS: readonly Bench[] = [
  growth,
  aging,
  batches,
  overload,
  fairness,
  isolation,
  review,
  send,
  events,
  footprint,
  large,
  replicas,
];

const comparison: Bench = {
  name: 'npm run bench --',
  description: 'Measures the service side by side with comparable ones, on its own Postgres and Redis.',
  options: [ROUNDS, SECONDS],
  help: 'Exit code 0: measured, and this service wrote every order it accepted once. 1: not so, or it could not run. 2: wrong usage.',
  async run(services, options) {
    const measurements = await runRounds(services, { ...options, contestants: options.only ?? ALL });
    const summary = summarize(measurements);
    if (options.chart) await drawChart(summary.rows, options.chart);
    const hasFailed = haveFaults(measurements.filter(({ contestant }) => contestant === OURS.name));
    return { text: renderTables(summary), results: { ...summary, measurements }, hasFailed };
  },
};

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

/** Adds what a bench declares to a command, whose action measures on new services, prints, and sets exit code 1 if something failed. */
function declare(command: Command, { description, options, textOption, help, run }: Bench): Command {
  command.description(description);
  for (const [flags, what, value] of options) command.option(flags, what, parseWholeNumber, value);
  if (textOption) command.option(...textOption);
  if (help) command.addHelpText('after', `\n${help}`);
  return command.option('--json <file>', 'write all figures there').action(async () => {
    const given = command.optsWithGlobals<Options>();
    const { text, results, hasFailed } = await withServices(
      () => startServices(given.postgres),
      (services) => run(services, given),
    );
    process.stdout.write(`${text}\n`);
    if (given.json) await writeJson(given.json, { ...conditions(given), ...results });
    if (hasFailed) process.exitCode = 1;
  });
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

const program = declare(new Command(comparison.name), comparison)
  .option('--only <names>', `contestants, of ${ALL.map((one) => one.name).join(',')}`, parseNames(ALL))
  .option('--loads <loads>', 'numbers of connections, open-<orders a second>, open-40%', loadsNamed, DEFAULT_LOADS)
  .option('--chart <file>', 'draw the rates at 128 connections as SVG')
  .option('--profile <directory>', 'write a CPU profile of every process there')
  .option('--postgres <directory>', 'the programs of another Postgres than the embedded one, such as one with LZ4');
for (const bench of COMMANDS) declare(program.command(bench.name), bench);
await runProgram(program, 'bench');
