import { parseArgs } from 'node:util';
import { abortOnSignal, line, type Report, type RunContext, run, say } from './run.ts';
import { tryCompose } from './try-compose.ts';
import { tryProcedures } from './try-procedures.ts';

const HELP = `Usage: npm run test:compose -- [options]

Builds the image, starts docker-compose.yml under a project, ports and secrets of its own, sends every sample order, scales
the workers to four, restarts each service under a steady load, kills a worker, and verifies that no order was lost or doubled.
Then it pastes the blocks of docs/operating under load: first deployment, rotation of passwords, keys and SECRETS_KEY, backup,
scaling, monitoring, a lost Redis, restores, upgrade from the previous commit and back, a full disk. In the end it runs a part of the
test suite on testcontainers' Postgres and Redis. Everything that it started is removed. It takes about 25 minutes.

Options:
  --only compose|procedures|suite   one of the three
  --rate <number>        orders a second while services restart (default 25)
  --help

Needs a Docker engine with Compose 2.20 or newer. Exit codes: 0 all is well, 1 it is not, 2 wrong usage.
`;

/** Test files that ask the most of Postgres and Redis; nothing in them needs either to be killed. */
const FILES = 'test/(worker/(duplicates|processing|storage|plans|claim-race)|intake/(status|rate-limits|preview))\\.';

/** Runs a part of the test suite with Postgres and Redis from containers only. */
async function trySuite({ signal }: RunContext): Promise<Report> {
  say(`runs ${FILES} on containers`);
  const env = { ...process.env, TEST_CONTAINERS: 'on', DATABASE_URL: '' };
  const output = await run('npm', ['test', '--', FILES], { env, signal, show: true });
  const ranOn = /^Ran on (.+)\.$/m.exec(output)?.[1] ?? 'nobody knows what';
  const [counts = '', passed, failed] = /^(\d+) passed, (\d+) failed, .*$/m.exec(output) ?? [];
  const violations =
    failed === '0' && Number(passed) > 0 ? [] : [`of the test suite ${counts || 'nothing was counted'}`];
  return { lines: [line('testcontainers', `${counts}; on ${ranOn}`)], violations };
}

const PARTS = { compose: tryCompose, procedures: tryProcedures, suite: trySuite };

function readOptions(): { parts: (keyof typeof PARTS)[]; rate: number; help: boolean } {
  const { values } = parseArgs({
    options: { only: { type: 'string' }, rate: { type: 'string' }, help: { type: 'boolean' } },
  });
  const { only, rate = '25', help = false } = values;
  if (!/^[1-9]\d{0,2}$/.test(rate)) throw new Error('--rate must be a whole number from 1 to 999');
  if (only === undefined) return { parts: ['compose', 'procedures', 'suite'], rate: Number(rate), help };
  if (!Object.hasOwn(PARTS, only)) throw new Error(`--only must be compose, procedures or suite`);
  return { parts: [only as keyof typeof PARTS], rate: Number(rate), help };
}

function fail(code: number, error: unknown): never {
  process.stderr.write(`test:compose: ${Error.isError(error) ? error.message : error}\n`);
  process.exit(code);
}

let options: ReturnType<typeof readOptions>;
try {
  options = readOptions();
} catch (error) {
  fail(2, error);
}
if (options.help) {
  process.stdout.write(HELP);
  process.exit();
}

const signal = abortOnSignal();
const lines: string[] = [];
const violations: string[] = [];
try {
  for (const part of options.parts) {
    const report = await PARTS[part]({ rate: options.rate, signal });
    lines.push(...report.lines);
    violations.push(...report.violations);
  }
} catch (error) {
  fail(1, signal.aborted ? signal.reason : error);
}
const verdict = violations.length === 0 ? 'All is well.' : `${violations.length} VIOLATIONS:`;
process.stdout.write(`\n${[...lines, verdict, ...violations.slice(0, 50)].join('\n')}\n`);
process.exit(violations.length === 0 ? 0 : 1);
