import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from '@jest/globals';
import { baseEnvironment } from '@orders/test-services';
import { describeWith } from '../harness/programs.ts';

const MAIN = resolve(import.meta.dirname, '../../packages/bench/src/faults/main.ts');
const RUN_MS = 480_000;
/** Shorter than the timeout of the test, so that no run outlives a failed test. */
const END_MS = RUN_MS - 15_000;

const run = (...args: string[]) =>
  promisify(execFile)(process.execPath, [MAIN, ...args], { env: baseEnvironment(), timeout: END_MS }).then(
    ({ stdout, stderr }) => ({ code: 0, stdout, stderr }),
    ({ code, stdout, stderr }) => ({ code: Number(code ?? NaN), stdout: String(stdout), stderr: String(stderr) }),
  );

describeWith('redis-server')('the fault runner', () => {
  test(
    'injects each fault, finds every accepted order written once, every cancellation kept and every event told and delivered, and writes a report',
    async () => {
      const directory = await mkdtemp(join(tmpdir(), 'orders-faults-test-'));
      const json = join(directory, 'faults.json');
      const kinds = [
        'intake-killed',
        'workers-killed',
        'redis-lost',
        'redis-frozen',
        'postgres-killed',
        'requests-cut',
        'pool-exhausted',
        'long-readers',
        'endpoint-hanging',
      ];
      const size = ['--rounds', '9', '--round-seconds', '2', '--rate', '200', '--seed', '7'];
      const { code, stdout, stderr } = await run('--only', kinds.join(','), ...size, '--json', json);
      if (code !== 0) throw new Error(`exit code ${code}: ${/VIOLATED.*/s.exec(stdout)?.[0] ?? stderr}`);
      const figures = JSON.parse(await readFile(json, 'utf8'));
      expect(figures).toMatchObject({ seed: 7, violations: [], notRun: [], total: { injections: 9 } });
      expect(new Set(figures.rows.map(({ fault }: { fault: string }) => fault))).toEqual(new Set(kinds));
      expect(figures.total.accepted).toBeGreaterThan(1000);
      expect(figures.total.replayed).toBeGreaterThan(10);
      for (const outcome of ['held', 'cancelled', 'requested']) {
        expect(figures.total.cancellations[outcome]).toBeGreaterThan(10);
      }
      for (const what of ['read', 'pages read again', 'confirmations compared']) {
        expect(figures.total.events[what]).toBeGreaterThan(10);
      }
      expect(figures.total.deliveries.delivered).toBe(figures.total.events.read);
      await rm(directory, { recursive: true });
    },
    RUN_MS,
  );

  test(
    'detects each kind of damage',
    async () => {
      // Long enough for each kind of row to damage: 1 in 100 orders is cancelled and never sent.
      const { code, stdout, stderr } = await run('--sabotage', 'all', '--round-seconds', '6', '--rate', '200');
      const noticed = stdout.split('\n').flatMap((line) => /^(\S+): VIOLATED: /.exec(line)?.[1] ?? []);
      expect({ noticed, code, stderr }).toMatchObject({
        noticed: [
          'order-removed',
          'order-doubled',
          'duplicate-misdirected',
          'receipt-stuck',
          'receipt-missing',
          'confirmed-behind-cursor',
          'confirmed-again',
          'cancellation-undone',
          'cancelled-confirmed',
          'held-cancellation-removed',
          'request-removed',
          'request-behind-cursor',
          'cancelled-by-nobody',
          'event-unpublished',
          'event-not-enabled',
          'delivery-skipped',
          'delivery-changed',
          'delivery-invented',
          'delivery-misdirected',
          'event-removed',
          'event-doubled',
          'event-mistyped',
          'event-invented',
          'decision-mistyped',
          'decision-invented',
          'confirmation-invented',
          'cancellation-mistyped',
          'cancellation-invented',
          'events-swapped',
          'state-mistyped',
        ],
        code: 1,
      });
    },
    RUN_MS,
  );

  test.each([
    ['--only fire', /"fire" is not one of intake-killed,/],
    ['--rounds 0', /whole number above zero/],
    ['--sabotage coffee', /Allowed choices are order-removed,/],
  ])('rejects wrong usage with one line and exit code 2: %s', async (args, message) => {
    const { code, stderr } = await run(...args.split(' '));
    expect(code).toBe(2);
    expect(stderr.trim()).toMatch(message);
    expect(stderr.trim().split('\n')).toHaveLength(1);
  });
});
