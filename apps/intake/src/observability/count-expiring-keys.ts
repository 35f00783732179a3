import type { Database } from '@orders/database/connect.ts';
import { run } from '@orders/database/run.ts';

const COUNT = {
  name: 'count-expiring-keys',
  text: `
select count(*)::int as count from api_keys
where lifetime_seconds is not null and revoked_at is null
  and expires_at > now() and expires_at < now() + interval '3 days' and last_used_at > now() - interval '7 days'`,
};

/** The number of API keys that end within 3 days, were used in the last 7 days, and are not replaced. */
export async function countExpiringKeys(database: Database): Promise<number> {
  const [row] = await run<{ count: number }>(database, COUNT, []);
  return row?.count ?? 0;
}
