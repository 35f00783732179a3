import { join } from 'node:path';
import {
  type FaultyPostgres as Server,
  startFaultyPostgres as startServer,
} from '@orders/test-services/faulty-postgres.ts';
import { freePort } from '@orders/test-services/ports.ts';
import pg from 'pg';
import { markForRecovery, takeBaseBackup } from './base-backup.ts';
import { closeAtEnd } from './close-at-end.ts';
import type { FaultyPostgres } from './faulty-postgres.ts';
import { until } from './until.ts';

/**
 * Settings of a Postgres that gets a standby: it keeps the WAL that is written while the standby is created. Written data survives a kill of
 * Postgres even without `fsync`.
 */
export const STANDBY_SETTINGS = ['fsync=off', 'wal_keep_size=256MB'];

/** A Postgres that replicates a primary by streaming. */
export interface Standby {
  readonly server: Server;
  query(text: string): Promise<Record<string, unknown>[]>;
  /** Pauses the replay: queries do not see new commits until `catchUp`. */
  fallBehind(): Promise<void>;
  /** Resumes the replay and waits until queries see everything that the primary has committed. */
  catchUp(): Promise<void>;
  /** Promotes it to primary and moves it to the address of the killed primary, as a change of DNS would in production. */
  takeOver(): Promise<void>;
}

/** Starts a standby of a running Postgres. Its data is next to that of the primary. */
export async function startStandby(primary: FaultyPostgres): Promise<Standby> {
  const directory = join(primary.directory, '../standby');
  await takeBaseBackup(primary.directUrl, primary.directory, directory);
  await markForRecovery(directory, 'standby');
  const { hostname, port, username, password } = new URL(primary.directUrl);
  let server = await startServer({
    directory,
    password,
    port: await freePort(),
    settings: [
      'fsync=off',
      `primary_conninfo=host=${hostname} port=${port} user=${username} password=${password} application_name=standby`,
    ],
  });
  const query: Standby['query'] = async (text) => {
    const client = new pg.Client({ connectionString: server.url });
    await client.connect();
    return (await client.query(text).finally(() => client.end())).rows;
  };
  closeAtEnd({ close: () => server.close() });
  return {
    get server() {
      return server;
    },
    query,
    async takeOver() {
      await query('select pg_promote()');
      await server.shutDown();
      server = await startServer({ directory, password, port: Number(port), settings: ['fsync=off'] });
    },
    async fallBehind() {
      await query('select pg_wal_replay_pause()');
      await until('the replay is paused', async () => {
        const [row] = await query('select pg_get_wal_replay_pause_state() as state');
        return row?.state === 'paused';
      });
    },
    async catchUp() {
      const { rows } = await primary.knex.raw('select pg_current_wal_lsn() as lsn');
      await query('select pg_wal_replay_resume()');
      await until('the standby has caught up', async () => {
        const [row] = await query(`select pg_last_wal_replay_lsn() >= '${rows[0].lsn}' as caught_up`);
        return row?.caught_up;
      });
    },
  };
}
