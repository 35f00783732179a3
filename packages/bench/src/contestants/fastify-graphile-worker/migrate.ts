import { runMigrations } from 'graphile-worker';
import { makePlainTables } from '../plain-tables.ts';

export async function migrate(databaseUrl: string): Promise<void> {
  await makePlainTables(databaseUrl);
  await runMigrations({ connectionString: databaseUrl });
}
