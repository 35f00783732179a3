import { expect, test } from '@jest/globals';
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
});
