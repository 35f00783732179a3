import { execFile } from 'node:child_process';
import { chmod } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, test } from '@jest/globals';
import { withClient } from '@orders/test-services/databases.ts';
import { startPostgres } from '@orders/test-services/postgres.ts';
import { parse } from 'yaml';
import { closeAtEnd } from '../harness/close-at-end.ts';
import { makeDirectory, useDirectory } from '../harness/directory.ts';
import { readShippedConfig } from '../harness/shipped-config.ts';

const run = promisify(execFile);
const START = resolve(import.meta.dirname, '../../deploy/postgres/start.sh');
/** The settings of the bench are those for 4g: verification/bench/src/services.ts. */
const EXPECTED = {
  '1g': ['256MB', '512MB', '64MB', '2GB'],
  '4g': ['1GB', '2GB', '256MB', '8GB'],
  '16g': ['4GB', '8GB', '1GB', '32GB'],
};
const SHOWN = ['shared_buffers', 'effective_cache_size', 'maintenance_work_mem', 'max_wal_size'];

describe('the Postgres of Compose', () => {
  const files = useDirectory();

  /** What the script passes on to the entrypoint of the image. */
  async function start(memory: string, ...args: string[]): Promise<string[]> {
    const entrypoint = await files.write('docker-entrypoint.sh', '#!/bin/sh\nprintf "%s\\n" "$@"\n');
    await chmod(entrypoint, 0o755);
    const env = { PATH: `${files.path('')}:${process.env.PATH}`, POSTGRES_MEMORY: memory };
    return (await run('bash', [START, ...args], { env })).stdout.trim().split('\n');
  }

  test.each(Object.entries(EXPECTED))('has with %s the settings for this memory', async (memory, expected) => {
    const compose = parse(await readShippedConfig('../docker-compose.yml', {})).services.postgres;
    const backup = parse(await readShippedConfig('compose/backup.yml', {})).services.postgres;
    expect(compose.entrypoint).toEqual(['bash', '/usr/local/bin/start.sh']);
    expect(compose.volumes).toContain('./deploy/postgres/start.sh:/usr/local/bin/start.sh:ro');
    for (const [command, archiving] of [
      [compose.command, 'off'],
      [backup.command, 'on'],
    ]) {
      const [program, ...settings] = await start(memory, ...command);
      expect(program).toBe('postgres');
      const directory = makeDirectory();
      await chmod(directory, 0o755);
      const postgres = await startPostgres({
        directory: join(directory, 'postgres'),
        password: 'test',
        settings: settings.map((setting) => setting.replace(/^-c/, '')),
      });
      closeAtEnd({ close: () => postgres.stop('SIGQUIT') });
      const url = Object.assign(new URL(postgres.url), { pathname: '/postgres' }).href;
      const shown = await withClient(url, async (client) => {
        const { rows } = await client.query<{ name: string; value: string }>(
          'select name, current_setting(name) as value from pg_settings',
        );
        return new Map(rows.map(({ name, value }) => [name, value]));
      });
      expect(SHOWN.map((name) => shown.get(name))).toEqual(expected);
      expect(['checkpoint_timeout', 'max_connections', 'archive_mode'].map((name) => shown.get(name))).toEqual([
        '30min',
        '200',
        archiving,
      ]);
      // What copying a Postgres to another machine needs.
      expect([shown.get('wal_level'), Number(shown.get('max_wal_senders')) > 1]).toEqual(['replica', true]);
      await postgres.stop('SIGQUIT');
    }
  });

  test('has the settings of its own command before those of the script', async () => {
    const args = await start('4g', 'postgres', '-cshared_buffers=3GB');
    expect(args.filter((arg) => arg.includes('shared_buffers')).at(-1)).toBe('-cshared_buffers=3GB');
  });

  test('does not start with a memory that it cannot read', async () => {
    for (const memory of ['', '0g', '4', '1.5g', '4t'])
      await expect(start(memory, 'postgres')).rejects.toMatchObject({ code: 2 });
    expect(await start('512MB', 'postgres')).toContain('-cshared_buffers=128MB');
  });

  test('shows the settings for a postgresql.conf', async () => {
    expect(await start('4g', '--show')).toContain('shared_buffers=1024MB');
  });
});
