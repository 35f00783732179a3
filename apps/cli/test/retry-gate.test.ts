import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from '@jest/globals';
import { ProblemError } from '@orders/client';
import { createRetryGate } from '../src/retry-gate.ts';

test('a reply to a request from before the wait does not hide the wait', async () => {
  const shown: (string | null)[] = [];
  const gate = createRetryGate({ giveUpAfterMs: 60_000, signal: new AbortController().signal }, (wait) =>
    shown.push(wait?.why ?? null),
  );
  let rejections = 1;
  const limited = gate.run(async () => {
    if (rejections-- > 0) throw rateLimited();
    return 'accepted after the wait';
  });
  const earlier = await gate.run(() => sleep(1, 'sent before the wait'));
  expect([earlier, shown]).toEqual(['sent before the wait', ['rate limit']]);
  expect([await limited, shown]).toEqual(['accepted after the wait', ['rate limit', null]]);
});

function rateLimited(): ProblemError {
  const problem = { type: 'about:blank', title: 'Too many requests', status: 429, code: 'rate_limited', detail: '' };
  return new ProblemError({ ...problem, request_id: 'r-1' }, { status: 429, retryAfterSeconds: 1 });
}
