import { type Connection, run } from '@orders/database/run.ts';

/** An API key, or the id of a source, that its sender still uses at the installation from which its account was moved. */
export interface MovedKey {
  account_id: number;
  /** SHA-256, in lower-case hex. */
  hash: string;
  /** The base URL of the installation that has the account. */
  moved_to: string;
}

/** What still works of moved accounts: keys that have not expired, and sources. */
export async function listMovedKeys(connection: Connection): Promise<MovedKey[]> {
  return run<MovedKey>(
    connection,
    `select a.account_id, encode(credential.hash, 'hex') as hash, a.moved_to
     from accounts a
     cross join lateral (
       select key_hash from api_keys
       where account_id = a.account_id and revoked_at is null and (expires_at is null or expires_at > now())
       union all
       select sha256(convert_to(source_id, 'UTF8')) from sources where account_id = a.account_id and removed_at is null
     ) as credential (hash)
     where a.moved_to is not null order by a.account_id, credential.hash`,
  );
}
