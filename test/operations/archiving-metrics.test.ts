import { chmod, chown, lstat, mkdir, readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, expect, test } from '@jest/globals';
import { closeDatabase, openDatabase } from '@orders/database/connect.ts';
import { readArchiving, readDatabaseUse } from '@orders/intake/observability/read-archiving.ts';
import { until } from '@orders/test-services/until.ts';
import { ARCHIVE_SETTINGS } from '../harness/base-backup.ts';
import { type FaultyPostgres, startFaultyPostgres } from '../harness/faulty-postgres.ts';
import { gaugeOf, readMetrics } from '../harness/read-metrics.ts';
import { type Stack, startStack } from '../harness/stack.ts';

const METRICS = ['postgres_archive_failing', 'postgres_archive_age_seconds', 'postgres_archive_waiting_segments'];

/** The archive is a directory that a test creates and removes. Without it each attempt fails. */
let postgres: FaultyPostgres;
let stack: Stack;
let archive: string;

beforeAll(async () => {
  postgres = await startFaultyPostgres(ARCHIVE_SETTINGS);
  stack = await startStack('postgres', { database: { ...postgres, close: async () => {} } });
  archive = join(postgres.directory, '../archive');
});

/** Completes segments of the write-ahead log. */
async function fill(segments: number): Promise<void> {
  for (let filled = 0; filled < segments; filled += 1) {
    await postgres.knex.raw("select pg_logical_emit_message(false, 'test', 'a segment that is empty is not switched')");
    await postgres.knex.raw('select pg_switch_wal()');
  }
}

async function makeArchive(): Promise<void> {
  const { uid, gid } = await lstat(postgres.directory);
  await mkdir(archive);
  await chown(archive, uid, gid);
  await chmod(archive, 0o700);
}

test('each intake shows if archiving fails, keeps up or falls behind', async () => {
  const intake = await stack.intake();
  const database = stack.openDatabase();
  const shown = async () => {
    const metrics = await readMetrics(intake.adminUrl);
    return METRICS.map((name) => gaugeOf(metrics, name));
  };
  await fill(1);
  await until('an attempt has failed', async () => (await readArchiving(database))?.isFailing);
  expect(await readArchiving(database)).toEqual({ isFailing: true, ageSeconds: null, waitingSegments: null });
  await until('intake shows it', async () => (await shown())[0] === 1);
  expect((await shown()).slice(1)).toEqual([undefined, undefined]);

  await makeArchive();
  // After three failures the archiver waits a minute, or for the next segment.
  await fill(1);
  await until('all segments are archived', async () => (await readArchiving(database))?.waitingSegments === 0);
  expect(await readArchiving(database)).toMatchObject({ isFailing: false, ageSeconds: expect.any(Number) });
  await until('intake shows it', async () => (await shown())[0] === 0);
  expect((await shown()).slice(1)).toEqual([expect.any(Number), 0]);

  const before = (await readArchiving(database))?.ageSeconds ?? 0;
  await rm(archive, { recursive: true });
  await fill(3);
  await until('it fails again', async () => (await readArchiving(database))?.isFailing);
  expect(await readArchiving(database)).toMatchObject({ isFailing: true, waitingSegments: 3 });
  await until('the last success ages', async () => ((await readArchiving(database))?.ageSeconds ?? 0) > before);
  await makeArchive();
  await fill(1);
  await until('it has caught up', async () => (await readArchiving(database))?.waitingSegments === 0);
  expect((await readdir(archive)).length).toBeGreaterThanOrEqual(3);
});

test('a role without grants can read all of these metrics', async () => {
  await postgres.knex.raw("create role nobody login password 'x'");
  const url = Object.assign(new URL(postgres.directUrl), { username: 'nobody', password: 'x' });
  const database = openDatabase({ url: url.href, poolSize: 1, prepared: false });
  await fill(1);
  await until('all segments are archived', async () => (await readArchiving(database))?.waitingSegments === 0);
  expect(await readArchiving(database)).toMatchObject({ isFailing: false, ageSeconds: expect.any(Number) });
  const { bytes, idShare } = await readDatabaseUse(database);
  expect(bytes).toBeGreaterThan(0);
  expect(idShare).toBeGreaterThan(0);
  expect(idShare).toBeLessThan(0.1);
  await closeDatabase(database);
});

test('without archiving these metrics are absent, and the database size is present', async () => {
  const plain = await startStack('postgres');
  const intake = await plain.intake();
  const metrics = await readMetrics(intake.adminUrl);
  expect(METRICS.map((name) => gaugeOf(metrics, name))).toEqual([undefined, undefined, undefined]);
  const { rows } = await plain.database.knex.raw('select pg_database_size(current_database())::float8 as bytes');
  expect((gaugeOf(metrics, 'postgres_database_bytes') ?? 0) / rows[0].bytes).toBeCloseTo(1, 0);
  await plain.close();
});
