import { join } from 'node:path';
import {
  freePortBelowEphemeral,
  markForRecovery,
  type FaultyPostgres as Server,
  startFaultyPostgres as startServer,
  takeBaseBackup,
} from '@orders/local-services';
import pg from 'pg';
import type { FaultyPostgres } from './faulty-postgres.ts';
import { until } from './until.ts';

/** What a Postgres must be started with so that a standby can be made of it: it keeps the WAL of the time that this takes. */
export const FOLLOWED = ['wal_keep_size=256MB'];

/** A Postgres that streams from another. */
export interface Standby {
  server: Server;
  query(text: string): Promise<Record<string, unknown>[]>;
  /** What arrives from now on is kept, and not shown until `catchUp`: a lag as long as a test wants it. */
  fallBehind(): Promise<void>;
  /** Goes on, and resolves once it shows all that the primary has committed by now. */
  catchUp(): Promise<void>;
}

/** Makes a standby of a running Postgres; its data lies beside that one's. */
export async function startStandby(primary: FaultyPostgres): Promise<Standby> {
  const directory = join(primary.directory, '../standby');
  await takeBaseBackup(primary.url, primary.directory, directory);
  await markForRecovery(directory, 'standby');
  const { hostname, port, username, password } = new URL(primary.url);
  const server = await startServer({
    directory,
    password,
    port: await freePortBelowEphemeral(),
    settings: [
      `primary_conninfo=host=${hostname} port=${port} user=${username} password=${password} application_name=standby`,
    ],
  });
  const query: Standby['query'] = async (text) => {
    const client = new pg.Client({ connectionString: server.url });
    await client.connect();
    return (await client.query(text).finally(() => client.end())).rows;
  };
  return {
    server,
    query,
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
