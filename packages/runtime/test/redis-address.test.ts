import { expect, test } from '@jest/globals';
import { parseRedisAddress } from '../src/config/redis-address.ts';

test.each([
  ['redis-cluster://a', { seeds: [['a', 6379]] }],
  [
    'redis-cluster://a:7000,b:7001/',
    {
      seeds: [
        ['a', 7000],
        ['b', 7001],
      ],
    },
  ],
  ['rediss-cluster://[::1]:7000', { seeds: [['::1', 7000]], tls: true }],
  [
    'redis-cluster://:p%40s%2Cs@a,b',
    {
      seeds: [
        ['a', 6379],
        ['b', 6379],
      ],
      password: 'p@s,s',
    },
  ],
  ['redis-cluster://me:a:b@10.0.0.1:1', { seeds: [['10.0.0.1', 1]], username: 'me', password: 'a:b' }],
  [
    'rediss-sentinel://:secret@a,b:7001/orders-1',
    {
      kind: 'sentinel',
      seeds: [
        ['a', 26379],
        ['b', 7001],
      ],
      password: 'secret',
      tls: true,
      primary: 'orders-1',
    },
  ],
])('%s is parsed', (address, { seeds, ...rest }) => {
  expect(parseRedisAddress(address)).toEqual({
    kind: 'cluster',
    username: '',
    password: '',
    tls: false,
    primary: '',
    ...rest,
    seeds: seeds.map(([host, port]) => ({ host, port })),
  });
});

test.each([
  'redis-cluster://',
  'redis-cluster://a:70000',
  'redis-cluster://a:1,',
  'redis-cluster://,b:2',
  'redis-cluster://me:secret@',
  'redis-cluster://me:sec%ret@a',
  'redis-cluster://a/1',
  'redis-sentinel://:secret@a:1',
  'redis-sentinel://:secret@a:1/',
  'redis-sentinel://:secret@a:1/b/c',
  'redis-cluster://a,me:secret@b',
])('%s is rejected, and the error does not quote it', (address) => {
  expect(() => parseRedisAddress(address)).toThrow(/^(?!.*sec)/);
});
