import { expect, test } from '@jest/globals';
import { BURST, createHostRates } from '../src/host-rates.ts';

const HOST = 'hooks.example.com';
const PER_SECOND = 50;

/** Rates with a clock that only `run` moves. */
function openRates() {
  let now = 1000;
  const rates = createHostRates(PER_SECOND, () => now);
  /** Lets accounts ask every millisecond, in turn. @returns what each got, and the most that the host got in any second. */
  function run(seconds: number, asks: { account: number; host?: string; wanted?: number }[]) {
    const got = asks.map(() => 0);
    const perMs: number[] = [];
    for (let ms = 0; ms < seconds * 1000; ms += 1) {
      now += 1;
      let all = 0;
      asks.forEach(({ account, host = HOST, wanted = BURST }, index) => {
        const { granted } = rates.take(host, account, wanted);
        got[index] = (got[index] as number) + granted;
        if (host === HOST) all += granted;
      });
      perMs.push(all);
    }
    const inSecondFrom = (from: number) => perMs.slice(from, from + 1000).reduce((sum, count) => sum + count, 0);
    return { got, most: Math.max(...perMs.map((_, from) => inSecondFrom(from))) };
  }
  return { rates, run, move: (ms: number) => (now += ms) };
}

test('a host gets the rate, and one round more after a pause, whatever is asked for it', () => {
  const { got, most } = openRates().run(
    10,
    Array.from({ length: 10 }, () => ({ account: 1 })),
  );
  expect(most).toBeLessThanOrEqual(PER_SECOND + BURST);
  const all = got.reduce((sum, count) => sum + count, 0);
  expect(all).toBeGreaterThanOrEqual(PER_SECOND * 10);
  expect(all).toBeLessThanOrEqual(PER_SECOND * 10 + BURST);
});

test('another host does not wait for it', () => {
  const { got } = openRates().run(10, [{ account: 1 }, { account: 1, host: 'other.example.com' }]);
  for (const count of got) expect(count).toBeGreaterThanOrEqual(PER_SECOND * 10);
});

test('accounts share a host evenly, however many endpoints one of them has', () => {
  const { run } = openRates();
  const hostile = Array.from({ length: 20 }, () => ({ account: 1 }));
  run(2, hostile);
  const { got, most } = run(10, [...hostile, { account: 2 }]);
  expect(most).toBeLessThanOrEqual(PER_SECOND + BURST);
  expect(got.at(-1)).toBeGreaterThanOrEqual(PER_SECOND * 10 * 0.45);
});

test('an account has the whole rate again once another one asks no more', () => {
  const { run } = openRates();
  run(2, [{ account: 1 }, { account: 2 }]);
  run(2, [{ account: 1 }]);
  expect(run(10, [{ account: 1 }]).got[0]).toBeGreaterThanOrEqual(PER_SECOND * 10 - 1);
});

test('who gets none is told when there is enough', () => {
  const { rates, move } = openRates();
  expect(rates.take(HOST, 1, BURST)).toEqual({ granted: BURST, waitMs: 0 });
  const { granted, waitMs } = rates.take(HOST, 1, 10);
  expect([granted, waitMs]).toEqual([0, 200]);
  move(waitMs);
  expect(rates.take(HOST, 1, 10)).toEqual({ granted: 10, waitMs: 0 });
});

test('what was not made is given back; what is made in any case is made up for', () => {
  const { rates, move } = openRates();
  rates.take(HOST, 1, BURST);
  rates.giveBack(HOST, 1, 3);
  expect(rates.take(HOST, 1, BURST).granted).toBe(3);
  rates.force(HOST, 1);
  move(1000 / PER_SECOND);
  expect(rates.take(HOST, 1, 1).granted).toBe(0);
  move(1000 / PER_SECOND);
  expect(rates.take(HOST, 1, 1).granted).toBe(1);
});
