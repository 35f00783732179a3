import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { makeDirectory } from '../harness/directory.ts';
import { describeWith } from '../harness/programs.ts';
import { RUN_MS, runFaults } from '../harness/run-faults.ts';

describeWith('redis-server')('the fault runner', () => {
  test(
    'injects each fault, finds every accepted order written once, every cancellation kept and every event told and delivered, and writes a report',
    async () => {
      const directory = makeDirectory();
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
      const size = ['--rounds', '9', '--round-seconds', '2', '--rate', '80', '--seed', '7'];
      const { code, stdout, stderr } = await runFaults('--only', kinds.join(','), ...size, '--json', json);
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
    },
    RUN_MS,
  );

  test.each([
    ['--only fire', /"fire" is not one of intake-killed,/],
    ['--rounds 0', /whole number above zero/],
    ['--sabotage coffee', /Allowed choices are order-removed,/],
  ])('rejects wrong usage with one line and exit code 2: %s', async (args, message) => {
    const { code, stderr } = await runFaults(...args.split(' '));
    expect(code).toBe(2);
    expect(stderr.trim()).toMatch(message);
    expect(stderr.trim().split('\n')).toHaveLength(1);
  });
});
