import { cpus, totalmem } from 'node:os';
import { Command, InvalidArgumentError } from 'commander';
import type { Bench, Options } from './bench.ts';
import { parseNames, parseWholeNumber, runProgram, withServices, writeJson } from './command-line.ts';
import { comparison, large, replicas } from './comparisons.ts';
import { ALL, checkout } from './contestants.ts';
import { footprint } from './footprint.ts';
import { isolation } from './isolation/isolation.ts';
import { overload } from './overload.ts';
import { COMFORTABLE_LOAD, parseLoad } from './rounds.ts';
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

/** Makes a command measure on new services, print, and set exit code 1 if something failed. */
function declare(command: Command, { description, help, run }: Bench): Command {
  if (help) command.addHelpText('after', `\n${help}`);
  return command.description(description).action(async () => {
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
  .configureHelp({ showGlobalOptions: true })
  .option('--only <names>', `contestants, of ${ALL.map((one) => one.name).join(',')}`, parseNames(ALL))
  .option('--beside <checkout>', 'also measure the service in this directory, at another commit', checkout)
  .option('--loads <loads>', 'numbers of connections, open-<orders a second>, open-40%', loadsNamed, DEFAULT_LOADS)
  .option('--rounds <number>', 'of each measurement', parseWholeNumber, 3)
  .option('--seconds <number>', 'of load in each measurement', parseWholeNumber, 8)
  .option('--json <file>', 'write all figures there')
  .option('--chart <file>', 'draw the rates at 128 connections as SVG')
  .option('--profile <directory>', 'write a CPU profile of every process there')
  .option('--postgres <directory>', 'the programs of another Postgres than the embedded one, such as one with LZ4');
for (const bench of [overload, isolation, large, replicas, footprint])
  declare(program.command(bench.name).copyInheritedSettings(program), bench);
await runProgram(program, 'bench');
