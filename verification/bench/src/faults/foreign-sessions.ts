import { SQLSTATE } from '@orders/database/database-errors.ts';
import pg from 'pg';

/** Postgres ends the sessions after this time if this process is killed. */
const LIMITS = { idle_in_transaction_session_timeout: 30_000, idle_session_timeout: 30_000, statement_timeout: 30_000 };
const MAX_SESSIONS = 300;
const SESSIONS_AT_ONCE = 16;
const FREE_CONNECTIONS = 6;

/** Sessions of other programs on the same Postgres. */
export type ForeignSessions = ReturnType<typeof createForeignSessions>;

export function createForeignSessions(url: string) {
  let clients: pg.Client[] = [];

  async function connect(): Promise<pg.Client> {
    const client = new pg.Client({ connectionString: url, application_name: 'foreign', ...LIMITS });
    client.on('error', () => {});
    await client.connect();
    clients.push(client);
    return client;
  }

  const close = (ended: pg.Client[]) => Promise.all(ended.map((client) => client.end().catch(() => {})));

  return {
    /** Opens a session, runs these statements in sequence, and leaves it open. */
    async open(...statements: string[]): Promise<void> {
      const client = await connect();
      for (const statement of statements) await client.query(statement);
    },
    /** Takes all free connections of Postgres except a few for the verification. */
    async takeAll(): Promise<void> {
      // Several at a time: a session takes a busy machine half a second, and meanwhile the load goes on.
      for (let isFull = false; !isFull && clients.length < MAX_SESSIONS; ) {
        const opened = await Promise.allSettled(Array.from({ length: SESSIONS_AT_ONCE }, connect));
        for (const { reason } of opened.filter(({ status }) => status === 'rejected') as PromiseRejectedResult[]) {
          if (reason.code !== SQLSTATE.tooManyConnections) throw reason;
          isFull = true;
        }
      }
      await close(clients.splice(-FREE_CONNECTIONS));
    },
    /** Closes all sessions. */
    async end(): Promise<void> {
      await close(clients);
      clients = [];
    },
  };
}
