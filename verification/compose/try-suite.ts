import { line, type Report, type RunContext } from './report.ts';
import { run } from './run.ts';

/** Test files that ask the most of Postgres and Redis; nothing in them needs either to be killed. */
const FILES = 'test/(worker/(duplicates|processing|storage|plans|claim-race)|intake/(status|rate-limits|preview))\\.';

/** Runs a part of the test suite with Postgres and Redis from containers only. */
export async function trySuite({ signal, say }: RunContext): Promise<Report> {
  say(`runs ${FILES} on containers`);
  const env = { ...process.env, TEST_CONTAINERS: 'on', DATABASE_URL: '' };
  const output = await run('npm', ['test', '--', FILES], { env, signal, show: true });
  const ranOn = /^Ran on (.+)\.$/m.exec(output)?.[1] ?? 'nobody knows what';
  const [counts = '', passed, failed] = /^(\d+) passed, (\d+) failed, .*$/m.exec(output) ?? [];
  const violations =
    failed === '0' && Number(passed) > 0 ? [] : [`of the test suite ${counts || 'nothing was counted'}`];
  return { lines: [line('testcontainers', `${counts}; on ${ranOn}`)], violations };
}
