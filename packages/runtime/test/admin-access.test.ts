import { describe, expect, test } from '@jest/globals';
import { isLoopback, rejectChange } from '../src/lifecycle/admin-server.ts';

test.each(['127.0.0.1', '127.0.0.2', '127.255.255.254', '::1', '::ffff:127.0.0.1', '0:0:0:0:0:ffff:7f00:1'])(
  '%s is a loopback address',
  (address) => {
    expect(isLoopback(address)).toBe(true);
  },
);

test.each([undefined, '', '128.0.0.1', '0.0.0.0', '10.0.0.1', '::', '::2', '::ffff:10.0.0.1', '::7f00:1', 'fe80::1'])(
  '%s is not a loopback address',
  (address) => {
    expect(isLoopback(address)).toBe(false);
  },
);

describe('a caller outside the loopback interface', () => {
  const TOKEN = 'a-token-of-tests';
  const ask = (authorization?: string, token?: string) =>
    rejectChange({ socket: { remoteAddress: '10.0.0.1' }, headers: { authorization } }, token)?.status ?? 'allowed';

  test('is rejected when no token is set, whatever it sends', () => {
    expect([ask(), ask('Bearer '), ask('Bearer undefined'), ask(`Bearer ${TOKEN}`)]).toEqual([403, 403, 403, 403]);
  });

  test.each([
    undefined,
    '',
    TOKEN,
    'Bearer',
    'Bearer ',
    `Basic ${TOKEN}`,
    `Bearer ${TOKEN}x`,
    `Bearer ${TOKEN.slice(1)}`,
    `Bearer ${TOKEN} ${TOKEN}`,
    `Bearer ${TOKEN.toUpperCase()}`,
  ])('gets 401 when it sends %j', (authorization) => {
    expect(ask(authorization, TOKEN)).toBe(401);
  });

  test.each([`Bearer ${TOKEN}`, `bearer ${TOKEN}`])('is allowed with %j', (authorization) => {
    expect(ask(authorization, TOKEN)).toBe('allowed');
  });
});
