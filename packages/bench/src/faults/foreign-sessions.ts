import { SQLSTATE } from '@orders/database';
import pg from 'pg';

/** Sessions of somebody else on the same Postgres. */
export interface ForeignSessions {
  /** Opens one and runs these statements in it, one after the other; it then stays as they leave it. */
  open(...statements: string[]): Promise<void>;
  /** Takes all free connections of Postgres, except a few for the verification. */
  takeAll(): Promise<void>;
  /** Ends all of them. */
  end(): Promise<void>;
}

/** Postgres ends the sessions after this time if this process is killed. */
const LIMITS = { idle_in_transaction_session_timeout: 30_000, idle_session_timeout: 30_000, statement_timeout: 30_000 };
const MOST = 300;
const LEFT = 6;

export function createForeignSessions(url: string): ForeignSessions {
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
    async open(...statements) {
      const client = await connect();
      for (const statement of statements) await client.query(statement);
    },
    async takeAll() {
      try {
        while (clients.length < MOST) await connect();
      } catch (error) {
        if ((error as { code?: string }).code !== SQLSTATE.tooManyConnections) throw error;
      }
      await close(clients.splice(-LEFT));
    },
    async end() {
      await close(clients);
      clients = [];
    },
  };
}
