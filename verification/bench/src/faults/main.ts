import { withClient } from '@orders/test-services/databases.ts';
import { Command, Option } from 'commander';
import { parseNames, parseWholeNumber, printProgress, runProgram, withServices, writeJson } from '../command-line.ts';
import { createCanceller } from './canceller.ts';
import { startDeployment } from './deployment.ts';
import { startDispatcher } from './dispatcher.ts';
import { startEventFollower } from './event-follower.ts';
import { FAULTS, type Fault } from './faults.ts';
import { findSabotage } from './find-sabotage.ts';
import { createFindings } from './findings.ts';
import { createForeignSessions } from './foreign-sessions.ts';
import { createCancellationLedger, createEventLedger, createLedger } from './ledger.ts';
import { createLoad } from './load.ts';
import { planRounds } from './plan.ts';
import { mulberry32 } from './random.ts';
import { renderReport, report } from './report.ts';
import { startReviewers } from './reviewers.ts';
import type { RoundsDeps } from './round.ts';
import { runRounds } from './run-rounds.ts';
import { SABOTAGES, type SabotageKind } from './sabotage.ts';

interface Options {
  rounds: number;
  roundSeconds: number;
  rate: number;
  seed: number;
  only?: Fault[];
  json?: string;
  logs?: string;
  sabotage?: SabotageKind | 'all';
}

const program = new Command('npm run faults --')
  .description(
    'Runs the service under load on its own Postgres and Redis, injects one fault after another, and verifies that no accepted order was lost, written twice or stuck, that each confirmed order was dispatched once, that every reply to a cancellation stays true, that the events of an account tell all of this once and in order, and that each event is delivered to the endpoint of its account.',
  )
  .option('--rounds <number>', 'number of rounds, each with one fault', parseWholeNumber, 20)
  .option('--round-seconds <number>', 'seconds of load in each round', parseWholeNumber, 6)
  .option('--rate <number>', 'orders sent per second', parseWholeNumber, 500)
  .option(
    '--only <names>',
    `faults, of ${FAULTS.map(({ name }) => name).join(',')}. The last five run on a cluster of three machines, and not by default; they take root, patroni, etcd, haproxy and Postgres 15 of Debian`,
    parseNames(FAULTS),
  )
  .addOption(
    new Option('--seed <number>', 'determines the order, times and targets of the faults')
      .argParser(parseWholeNumber)
      .default(1 + Math.floor(Math.random() * 1_000_000), 'any'),
  )
  .option('--json <file>', 'write all results to a file')
  .option('--logs <directory>', 'keep the logs of the processes')
  .addOption(
    new Option(
      '--sabotage <kind>',
      'damage stored data after a round without faults; the verification must detect it',
    ).choices([...Object.keys(SABOTAGES), 'all']),
  )
  .addHelpText(
    'after',
    '\nExit code 0: everything holds. 1: it does not, or the run failed. 2: wrong usage. 3: damage by --sabotage was not detected.',
  )
  .action(run);

async function run(options: Options): Promise<void> {
  const { seed, rate, roundSeconds, logs } = options;
  const findings = createFindings();
  const ledger = createLedger(findings);
  const cancellations = createCancellationLedger(findings);
  const events = createEventLedger(findings);
  await withServices(
    () => startDeployment({ findings, logs, isCluster: options.only?.some(({ isOfCluster }) => isOfCluster) ?? false }),
    async (deployment) => {
      const random = mulberry32(seed + 1);
      const canceller = createCanceller({ cancellations, findings, ...deployment, random: mulberry32(seed + 3) });
      const load = createLoad({ ledger, findings, canceller, ...deployment, rate, random });
      const foreign = createForeignSessions(deployment.databaseUrl);
      const url = deployment.databaseUrl;
      const dispatcher = startDispatcher(url);
      const reviewers = startReviewers({
        url,
        ...deployment,
        random: mulberry32(seed + 2),
        onConfirmed: canceller.cancelConfirmed,
      });
      const follower = startEventFollower({ url, ...deployment, events, findings, random: mulberry32(seed + 4) });
      const context = { ...deployment, findings, foreign, load, random };
      const observed = { ledger, cancellations, canceller, dispatcher, reviewers, events, follower };
      const deps = { context, ...observed, findings, roundSeconds };
      try {
        if (options.sabotage) await sabotage(options.sabotage, deps);
        else await runFaults(options, deps);
      } finally {
        await foreign.end();
        await Promise.all([reviewers.stop(), dispatcher.stop(), follower.stop()]);
      }
    },
  );
}

async function runFaults(
  { only = FAULTS.filter(({ isOfCluster }) => !isOfCluster), rounds, roundSeconds, rate, seed, json }: Options,
  deps: RoundsDeps,
): Promise<void> {
  const notRun = only.flatMap((fault) => {
    const why = fault.unavailableReason?.(deps.context);
    return why ? [{ fault: fault.name, why }] : [];
  });
  const possible = only.filter(({ name }) => notRun.every(({ fault }) => fault !== name));
  const done = await runRounds(planRounds(possible, { rounds, roundSeconds, seed }), deps);
  const result = report(done, notRun);
  process.stdout.write(`${renderReport(result)}\n`);
  const names =
    possible.length < FAULTS.filter(({ isOfCluster }) => !isOfCluster).length || possible[0]?.isOfCluster
      ? ` --only ${possible.map(({ name }) => name).join(',')}`
      : '';
  printProgress(
    `To repeat: npm run faults -- --seed ${seed} --rounds ${rounds} --round-seconds ${roundSeconds} --rate ${rate}${names}`,
  );
  if (json) {
    const at = new Date().toISOString();
    await writeJson(json, { at, node: process.version, seed, rate, roundSeconds, ...result, rounds: done });
  }
  if (result.violations.length > 0) process.exitCode = 1;
}

/** Exit code 1 if all damage was found, like for any violation, and 3 if not. */
async function sabotage(wanted: SabotageKind | 'all', deps: RoundsDeps): Promise<void> {
  const { context } = deps;
  const quiet = await runRounds([{ fault: null, target: 0, injectAt: 0, durationSeconds: 0 }], deps);
  const { violations } = report(quiet, []);
  if (violations.length > 0) throw new Error(`a round without a fault violates ${violations.map(({ name }) => name)}`);
  const kinds = wanted === 'all' ? (Object.keys(SABOTAGES) as SabotageKind[]) : [wanted];
  process.exitCode = 1;
  for (const kind of kinds) {
    const found = await withClient(context.databaseUrl, (client) => findSabotage(client, deps, kind));
    const names = [...Map.groupBy(found, ({ name }) => name)].map(([name, { length }]) => `${name} (${length})`);
    const isDetected = found.some(({ name }) => name === SABOTAGES[kind].foundAs);
    const verdict = isDetected ? 'VIOLATED' : `NOT DETECTED, ${SABOTAGES[kind].foundAs} was not found`;
    process.stdout.write(`${kind}: ${verdict}: ${names.join(', ')}\n`);
    if (!isDetected) process.exitCode = 3;
  }
}

await runProgram(program, 'faults');
// After an interruption, pending work would otherwise continue.
process.exit();
