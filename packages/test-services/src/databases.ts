import pg from 'pg';

const CONNECT_MS = 30_000;

/** Runs work on a new connection. */
export async function withClient<T>(url: string, work: (client: pg.Client) => Promise<T>): Promise<T> {
  const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: CONNECT_MS });
  // The running query reports the same error.
  client.on('error', () => {});
  try {
    await client.connect();
    return await work(client);
  } finally {
    await client.end().catch(() => {});
  }
}

/** Creates the database that `url` names, if it does not exist. */
export async function ensureDatabase(url: string): Promise<void> {
  const name = nameOf(url);
  await onMaintenanceDatabase(url, async (client) => {
    const { rowCount } = await client.query('select 1 from pg_database where datname = $1', [name]);
    if (rowCount === 0) await client.query(`create database ${client.escapeIdentifier(name)}`);
  });
}

export async function dropDatabase(url: string): Promise<void> {
  await onMaintenanceDatabase(url, (client) =>
    client.query(`drop database if exists ${client.escapeIdentifier(nameOf(url))} with (force)`),
  );
}

const nameOf = (url: string) => decodeURIComponent(new URL(url).pathname.slice(1));

async function onMaintenanceDatabase(url: string, work: (client: pg.Client) => Promise<unknown>): Promise<void> {
  await withClient(Object.assign(new URL(url), { pathname: '/postgres' }).href, work);
}
