import { type Connection, run } from './run.ts';

/** The number of the installation that this database belongs to; 0 if there is only one. */
export async function readInstallation(connection: Connection): Promise<number> {
  const [installation] = await run<{ number: number }>(connection, 'select number from installation');
  return installation?.number ?? 0;
}
