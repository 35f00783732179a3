import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdir, readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { text } from 'node:stream/consumers';
import { parseArgs } from 'node:util';

const HELP = `npm run test:steady -- [--times <n>] [--busy <n>] [--all]

Runs the tests many times, every second time beside busy loops, to show that no verdict depends on the machine.
Prints a line for each run, and what failed. Ends with 0 if nothing failed in any run, with 1 otherwise.

  --times <n>  runs (default 10)
  --busy <n>   busy loops beside every second run (default 4)
  --all        npm run test:all instead of npm test
  --help       print this text`;

const ROOT = resolve(import.meta.dirname, '../..');
const SUMMARY = /^\d+ passed, \d+ failed, \d+ skipped$/m;
const SAMPLE_MS = 1000;

interface Run {
  /** `<n> passed, <n> failed, <n> skipped`, or what ended it before. */
  summary: string;
  hasFailed: boolean;
  /** The tests and files that failed, each test with the first lines of its error. */
  failures: string[];
  /** The most that a worker process of Jest took, in MiB; 0 without /proc. */
  workerMiB: number;
}

async function runTests(all: boolean): Promise<Run> {
  const config = all ? ['-c', 'jest.all.config.ts'] : [];
  const jest = spawn(resolve(ROOT, 'node_modules/.bin/jest'), config, { cwd: ROOT, stdio: ['ignore', 'pipe', 'pipe'] });
  let workerMiB = 0;
  const sampling = setInterval(async () => {
    workerMiB = Math.max(workerMiB, await largestWorkerMiB(jest.pid as number).catch(() => 0));
  }, SAMPLE_MS);
  const [stdout, stderr] = await Promise.all([text(jest.stdout), text(jest.stderr), once(jest, 'close')]);
  clearInterval(sampling);
  const failures = new Set(stderr.match(/^(FAIL .*| {2}● .*(\n|\n {4}.*){0,20})$/gm));
  const summary = SUMMARY.exec(stdout)?.[0] ?? stderr.trim().split('\n').at(-1) ?? '';
  return { summary, hasFailed: jest.exitCode !== 0, failures: [...failures], workerMiB };
}

/** Peak memory of the largest child of a process, in MiB. */
async function largestWorkerMiB(parent: number): Promise<number> {
  const pids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name));
  const statuses = await Promise.all(pids.map((pid) => readFile(`/proc/${pid}/status`, 'utf8').catch(() => '')));
  const peaks = statuses
    .filter((status) => status.includes(`\nPPid:\t${parent}\n`))
    .map((status) => Number(/^VmHWM:\s+(\d+)/m.exec(status)?.[1] ?? 0));
  return Math.round(Math.max(0, ...peaks) / 1024);
}

function startBusyLoops(count: number): ChildProcess[] {
  return Array.from({ length: count }, () => spawn(process.execPath, ['-e', 'for(;;);'], { stdio: 'ignore' }));
}

function readArguments(): { times: number; busy: number; all: boolean; help: boolean } {
  try {
    const { values } = parseArgs({
      options: {
        times: { type: 'string', default: '10' },
        busy: { type: 'string', default: '4' },
        all: { type: 'boolean', default: false },
        help: { type: 'boolean', default: false },
      },
    });
    for (const count of [values.times, values.busy])
      if (!/^\d+$/.test(count)) throw new Error(`"${count}" is not a whole number`);
    return { ...values, times: Number(values.times), busy: Number(values.busy) };
  } catch (error) {
    process.stderr.write(`${(error as Error).message}\n\n${HELP}\n`);
    process.exit(2);
  }
}

const { times, busy, all, help } = readArguments();
if (help) {
  process.stdout.write(`${HELP}\n`);
  process.exit(0);
}
for (let number = 1; number <= times; number += 1) {
  const loops = startBusyLoops(number % 2 === 0 ? busy : 0);
  const startedAt = performance.now();
  const run = await runTests(all).finally(() => {
    for (const loop of loops) loop.kill();
  });
  const seconds = Math.round((performance.now() - startedAt) / 1000);
  const beside = loops.length > 0 ? `, beside ${loops.length} busy loops` : '';
  process.stdout.write(
    `run ${number} of ${times}${beside}: ${run.summary}; ${seconds} s, a worker of Jest took up to ${run.workerMiB} MiB\n`,
  );
  for (const failure of run.failures) process.stdout.write(`    ${failure}\n`);
  if (run.hasFailed) process.exitCode = 1;
}
