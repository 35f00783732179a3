import { expect, test } from '@jest/globals';
import { SABOTAGES } from '../../verification/bench/src/faults/sabotage.ts';
import { describeWith } from '../harness/programs.ts';
import { RUN_MS, runFaults } from '../harness/run-faults.ts';

describeWith('redis-server')('the fault runner', () => {
  test(
    'detects each kind of damage',
    async () => {
      // Long enough for each kind of row to damage: 1 in 100 orders is cancelled and never sent.
      const { code, stdout, stderr } = await runFaults('--sabotage', 'all', '--round-seconds', '6', '--rate', '200');
      const noticed = stdout.split('\n').flatMap((line) => /^(\S+): VIOLATED: /.exec(line)?.[1] ?? []);
      expect({ noticed, code, stderr }).toMatchObject({
        noticed: Object.keys(SABOTAGES),
        code: 1,
      });
    },
    RUN_MS,
  );
});
