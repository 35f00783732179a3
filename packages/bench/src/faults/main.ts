import { Command, Option } from 'commander';
import { namedOf, runProgram, say, wholeNumber, withServices, writeJson } from '../command-line.ts';
import { startDeployment } from './deployment.ts';
import { startDispatcher } from './dispatcher.ts';
import { FAULTS, type Fault } from './faults.ts';
import { createFindings } from './findings.ts';
import { createForeignSessions } from './foreign-sessions.ts';
import { createLedger } from './ledger.ts';
import { createLoad } from './load.ts';
import { planRounds } from './plan.ts';
import { mulberry32 } from './random.ts';
import { renderReport, report } from './report.ts';
import { type RoundsDeps, runRounds } from './run-rounds.ts';
import { findSabotage, SABOTAGES, type SabotageKind } from './sabotage.ts';
import { withClient } from './with-client.ts';

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
    'Runs the service under load on a Postgres and a Redis of its own, lets one fault after another strike, and verifies that no accepted order was lost, none written twice and none stuck, and that each confirmed order was shown to the dispatching system once.',
  )
  .option('--rounds <number>', 'one fault in each', wholeNumber, 20)
  .option('--round-seconds <number>', 'of load in each round', wholeNumber, 6)
  .option('--rate <number>', 'orders offered a second', wholeNumber, 500)
  .option('--only <names>', `faults, of ${FAULTS.map(({ name }) => name).join(',')}`, namedOf(FAULTS))
  .addOption(
    new Option('--seed <number>', 'decides the order of the faults, their moments and victims')
      .argParser(wholeNumber)
      .default(1 + Math.floor(Math.random() * 1_000_000), 'any'),
  )
  .option('--json <file>', 'write all figures there')
  .option('--logs <directory>', 'keep there what the processes log')
  .addOption(
    new Option(
      '--sabotage <kind>',
      'damage what is stored behind a round without a fault; the verification must notice',
    ).choices([...Object.keys(SABOTAGES), 'all']),
  )
  .addHelpText(
    'after',
    '\nExit code 0: everything holds. 1: it does not, or the run failed. 2: wrong usage. 3: damage by --sabotage went unnoticed.',
  )
  .action(run);

async function run(options: Options): Promise<void> {
  const { seed, rate, roundSeconds, logs } = options;
  const findings = createFindings();
  const ledger = createLedger(findings);
  await withServices(
    () => startDeployment({ findings, logs }),
    async (deployment) => {
      const random = mulberry32(seed + 1);
      const load = createLoad({ ledger, findings, ...deployment, rate, random });
      const foreign = createForeignSessions(deployment.postgres.url);
      const dispatcher = startDispatcher({ url: deployment.postgres.url, ...deployment, random: mulberry32(seed + 2) });
      const scene = { ...deployment, foreign, load, random };
      const deps = { scene, ledger, dispatcher, findings, roundSeconds, say };
      try {
        if (options.sabotage) await sabotage(options.sabotage, deps);
        else await strike(options, deps);
      } finally {
        await foreign.end();
        await dispatcher.stop();
      }
    },
  );
}

async function strike(
  { only = [...FAULTS], rounds, roundSeconds, rate, seed, json }: Options,
  deps: RoundsDeps,
): Promise<void> {
  const notRun = only.flatMap((fault) => {
    const why = fault.missing?.(deps.scene);
    return why ? [{ fault: fault.name, why }] : [];
  });
  const possible = only.filter(({ name }) => notRun.every(({ fault }) => fault !== name));
  const done = await runRounds(planRounds(possible, { rounds, roundSeconds, seed }), deps);
  const result = report(done, notRun);
  process.stdout.write(`${renderReport(result)}\n`);
  const names = possible.length < FAULTS.length ? ` --only ${possible.map(({ name }) => name).join(',')}` : '';
  say(
    `The same again: npm run faults -- --seed ${seed} --rounds ${rounds} --round-seconds ${roundSeconds} --rate ${rate}${names}`,
  );
  if (json) {
    const at = new Date().toISOString();
    await writeJson(json, { at, node: process.version, seed, rate, roundSeconds, ...result, rounds: done });
  }
  if (result.violations.length > 0) process.exitCode = 1;
}

/** Exit code 1 if all of it was found, as for any violation; 3 if not. */
async function sabotage(wanted: SabotageKind | 'all', deps: RoundsDeps): Promise<void> {
  const { scene } = deps;
  const quiet = await runRounds([{ fault: null, victim: 0, strikeAt: 0, lasts: 0 }], deps);
  const { violations } = report(quiet, []);
  if (violations.length > 0) throw new Error(`a round without a fault violates ${violations.map(({ name }) => name)}`);
  const kinds = wanted === 'all' ? (Object.keys(SABOTAGES) as SabotageKind[]) : [wanted];
  process.exitCode = 1;
  for (const kind of kinds) {
    const found = await withClient(scene.postgres.url, (client) => findSabotage(client, deps, kind));
    const names = [...Map.groupBy(found, ({ name }) => name)].map(([name, { length }]) => `${name} (${length})`);
    const isNoticed = found.some(({ name }) => name === SABOTAGES[kind].foundAs);
    const verdict = isNoticed ? 'VIOLATED' : `UNNOTICED, ${SABOTAGES[kind].foundAs} was not found`;
    process.stdout.write(`${kind}: ${verdict}: ${names.join(', ')}\n`);
    if (!isNoticed) process.exitCode = 3;
  }
}

await runProgram(program, 'faults');
// What was under way when somebody ended the run would go on otherwise.
process.exit();
