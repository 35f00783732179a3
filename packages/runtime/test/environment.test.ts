import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, jest, test } from '@jest/globals';
import Joi from 'joi';
import { readEnvironment } from '../src/config/environment.ts';
import { parseRedisAddress } from '../src/config/redis-address.ts';
import { databaseEnvironment } from '../src/config/settings.ts';

const ADDRESS = 'postgres://orders:pa55word@db/orders';

let directory: string;
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'orders-environment-'));
});
afterAll(() => rm(directory, { recursive: true }));

async function file(content: string): Promise<string> {
  const path = join(directory, String(Math.random()));
  await writeFile(path, content);
  return path;
}

const read = (env: Record<string, string>) => readEnvironment<{ DATABASE_URL: string }>(databaseEnvironment, env);

describe('a misspelled setting', () => {
  /** What is written to stderr while these variables are read. */
  const warningsOf = (env: Record<string, string>) => {
    const write = jest.spyOn(process.stderr, 'write').mockReturnValue(true);
    try {
      read({ DATABASE_URL: ADDRESS, ...env });
      return write.mock.calls.map(([text]) => text).join('');
    } finally {
      write.mockRestore();
    }
  };

  test.each([
    ['PG_POLL_SIZE', 'PG_POOL_SIZE'],
    ['pg_pool_size', 'PG_POOL_SIZE'],
    ['PGQUERY_TIMEOUT', 'PG_QUERY_TIMEOUT'],
    ['DATABASE_URL_FILES', 'DATABASE_URL_FILE'],
  ])('%s is reported with the intended setting', (name, meant) => {
    const warning = `Configuration: ${name} is not a setting of this process. Did you mean ${meant}?\n`;
    expect(warningsOf({ [name]: 'pa55word' })).toBe(warning);
  });

  test('is not reported for correct settings and unrelated variables', () => {
    expect(warningsOf({ PG_POOL_SIZE: '5', HOST: 'x', PATH: '/bin', WORKER_CONCURRENCY: '4' })).toBe('');
  });
});

describe('a setting from a file', () => {
  test.each(['', '\n', '\r\n', '\n\n'])('is the content of the file without trailing line breaks: %j', async (end) => {
    expect(read({ DATABASE_URL_FILE: await file(ADDRESS + end) }).DATABASE_URL).toBe(ADDRESS);
  });

  test('keeps spaces and inner line breaks', async () => {
    const schema = { NOTE: Joi.string() };
    expect(readEnvironment(schema, { NOTE_FILE: await file(' a\nb \n') })).toEqual({ NOTE: ' a\nb ' });
  });

  test('is validated by the same rules, and the error does not quote it', async () => {
    const wrong = file('mysql://me:pa55word@db');
    expect(await wrong.then((path) => reasonOf({ DATABASE_URL_FILE: path }))).toBe(
      'Configuration: DATABASE_URL must be a valid uri with a scheme matching the postgres|postgresql pattern.',
    );
  });

  test('is read only for known names', () => {
    expect(read({ DATABASE_URL: ADDRESS, OTHER_FILE: '/nonexistent' }).DATABASE_URL).toBe(ADDRESS);
  });

  test.each([
    ['a missing file', '/nonexistent/pa55word', 'DATABASE_URL_FILE must be a file that can be read'],
    ['a directory', '/', 'DATABASE_URL_FILE must be a file that can be read'],
    ['the value instead of a path', ADDRESS, 'DATABASE_URL_FILE must be a file that can be read'],
    ['an empty file', '/dev/null', 'DATABASE_URL_FILE is an empty file'],
  ])('%s is rejected in one line', (_, path, reason) => {
    expect(reasonOf({ DATABASE_URL_FILE: path })).toBe(`Configuration: ${reason}.`);
  });

  test('is rejected if the variable itself is set too (an empty variable counts as unset)', async () => {
    const path = await file(ADDRESS);
    expect(reasonOf({ DATABASE_URL: ADDRESS, DATABASE_URL_FILE: path })).toBe(
      'Configuration: DATABASE_URL and DATABASE_URL_FILE are both set; set one of them.',
    );
    expect(read({ DATABASE_URL: '', DATABASE_URL_FILE: path }).DATABASE_URL).toBe(ADDRESS);
    expect(read({ DATABASE_URL: ADDRESS, DATABASE_URL_FILE: '' }).DATABASE_URL).toBe(ADDRESS);
  });

  function reasonOf(env: Record<string, string>): string {
    try {
      read(env);
    } catch (error) {
      return (error as Error).message;
    }
    return 'accepted';
  }
});

describe('PGPASSWORD', () => {
  test.each([
    ['postgres://orders@db:5432/orders', 'postgres://orders:p%40ss%2F%25@db:5432/orders'],
    ['postgresql://db/orders?sslmode=verify-full', 'postgresql://:p%40ss%2F%25@db/orders?sslmode=verify-full'],
    ['postgres:///orders?host=/run/postgresql', 'postgres://:p%40ss%2F%25@/orders?host=/run/postgresql'],
    [ADDRESS, ADDRESS],
  ])('is added to a Postgres URL without a password: %s', (DATABASE_URL, address) => {
    expect(read({ DATABASE_URL, PGPASSWORD: 'p@ss/%' })).toMatchObject({ DATABASE_URL: address });
  });

  test('can come from a file, and is not one of the returned settings', async () => {
    const settings = read({ DATABASE_URL: 'postgres://orders@db/orders', PGPASSWORD_FILE: await file('pa55word\n') });
    expect(settings).toEqual({ DATABASE_URL: ADDRESS, PG_POOL_SIZE: 10, PG_PREPARED: true, PG_QUERY_TIMEOUT: 10_000 });
  });
});

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
