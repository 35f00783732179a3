import { join } from 'node:path';
import {
  freePortBelowEphemeral,
  type FaultyPostgres as Server,
  startFaultyPostgres as startServer,
} from '@orders/test-services';
import pg from 'pg';
import { markForRecovery, takeBaseBackup } from './base-backup.ts';
import type { FaultyPostgres } from './faulty-postgres.ts';
import { until } from './until.ts';

/**
 * What a Postgres must be started with so that a standby can be made of it: it keeps the WAL of the time that this takes. What its processes wrote outlives
 * them without `fsync`.
 */
export const FOLLOWED = ['fsync=off', 'wal_keep_size=256MB'];

/** A Postgres that streams from another. */
export interface Standby {
  readonly server: Server;
  query(text: string): Promise<Record<string, unknown>[]>;
  /** What arrives from now on is kept, and not shown until `catchUp`: a lag as long as a test wants it. */
  fallBehind(): Promise<void>;
  /** Goes on, and resolves once it shows all that the primary has committed by now. */
  catchUp(): Promise<void>;
  /** Makes a primary of it, at the address where the dead one was: what a move of its name in DNS does in earnest. */
  takeOver(): Promise<void>;
}

/** Makes a standby of a running Postgres; its data lies beside that one's. */
export async function startStandby(primary: FaultyPostgres): Promise<Standby> {
  const directory = join(primary.directory, '../standby');
  await takeBaseBackup(primary.directUrl, primary.directory, directory);
  await markForRecovery(directory, 'standby');
  const { hostname, port, username, password } = new URL(primary.directUrl);
  let server = await startServer({
    directory,
    password,
    port: await freePortBelowEphemeral(),
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
