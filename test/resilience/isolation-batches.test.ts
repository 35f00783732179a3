import { test } from '@jest/globals';
import { BATCH_ATTACKS } from '../../packages/bench/src/isolation/attacks.ts';
import { useIsolation } from '../harness/isolation.ts';

const isolation = useIsolation();

test.each(BATCH_ATTACKS)('$name', async (attack) => {
  await isolation.expectUnharmed(attack);
});

test('every accepted order is final', () => isolation.expectAllFinal());
