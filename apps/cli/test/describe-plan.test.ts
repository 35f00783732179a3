import { expect, test } from '@jest/globals';
import { describePlan } from '../src/commands/migrate.ts';

test('a plan names each pending migration, with whether it runs in a transaction', () => {
  const pending = [
    { name: '002-columns', transaction: true },
    { name: '003-index', transaction: false },
  ];
  expect(describePlan({ pending, drift: [], unknown: [] }).split('\n')).toEqual([
    'Migrations that would run, in this order:',
    '  002-columns (in a transaction)',
    '  003-index (not in a transaction)',
  ]);
});
