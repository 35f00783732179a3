import { parseArgs } from 'node:util';
import { tryCompose } from './try-compose.ts';
import { tryProcedures } from './try-procedures.ts';
import { trySuite } from './try-suite.ts';

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

const ended = new AbortController();
for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
  process.on(name, () => ended.abort(new Error(`ended by ${name}; what was started is removed`)));
}
const startedAt = performance.now();
const say = (text: string) => {
  const seconds = ((performance.now() - startedAt) / 1000).toFixed(0).padStart(4);
  process.stderr.write(`${seconds} s  ${text}\n`);
};

const lines: string[] = [];
const violations: string[] = [];
try {
  for (const part of options.parts) {
    const report = await PARTS[part]({ rate: options.rate, signal: ended.signal, say });
    lines.push(...report.lines);
    violations.push(...report.violations);
  }
} catch (error) {
  fail(1, ended.signal.aborted ? ended.signal.reason : error);
}
const verdict = violations.length === 0 ? 'All is well.' : `${violations.length} VIOLATIONS:`;
process.stdout.write(`\n${[...lines, verdict, ...violations.slice(0, 50)].join('\n')}\n`);
process.exit(violations.length === 0 ? 0 : 1);
