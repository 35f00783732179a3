import type { Database } from '@orders/database/connect.ts';
import { readInstallation } from '@orders/database/installation.ts';
import { run } from '@orders/database/run.ts';
import { hashApiKey, installationOf, isSourceId } from '@orders/domain/api-key.ts';
import { Problem } from '@orders/domain/problems.ts';
import { createCachedLookUp } from './cached-look-up.ts';

/** Rejects the keys and source ids of other installations. Only for those that are unknown here: those of a moved account keep their number. */
export interface OtherInstallations {
  /**
   * @param credential an API key or the id of a source, which is of the right form and does not work here.
   * @throws {Problem} `wrong_installation` if its number is that of another installation whose address is known, and it never worked here.
   * `overloaded` if too many such wait; a database error if a look-up fails.
   */
  reject(credential: string): Promise<void>;
}

const FIND_ISSUED = {
  name: 'find-issued-credentials',
  text: `
select wanted.index::int as "index"
from unnest($1::bytea[], $2::text[]) with ordinality as wanted(key_hash, source_id, index)
cross join lateral (
  (select from api_keys where key_hash = wanted.key_hash limit 1)
  union all (select from sources where source_id = wanted.source_id limit 1)
) as issued`,
};

/**
 * Finds which credentials were made for accounts that are here, also those that were revoked, removed or have expired. One of a moved
 * account is still known where the account was before, so that its sender would be sent back and forth.
 *
 * @param ids hashes of keys in base64, and ids of sources.
 * @returns an object for each that was, otherwise null.
 */
async function findIssued(database: Database, ids: readonly string[]): Promise<(object | null)[]> {
  const rows = await run<{ index: number }>(database, FIND_ISSUED, [
    ids.map((id) => (isSourceId(id) ? null : Buffer.from(id, 'base64'))),
    ids.map((id) => (isSourceId(id) ? id : null)),
  ]);
  const found: (object | null)[] = ids.map(() => null);
  for (const { index } of rows) found[index - 1] = {};
  return found;
}

/** @param addresses the base URLs of intake by the number of the installation; this one may be among them. */
export function createOtherInstallations(
  database: Database,
  addresses: ReadonlyMap<number, string>,
): OtherInstallations {
  let own: number | undefined;
  const issued = createCachedLookUp<object>({
    idOf: (credential) => (isSourceId(credential) ? credential : hashApiKey(credential).toString('base64')),
    find: (ids) => findIssued(database, ids),
  });
  return {
    async reject(credential) {
      const number = installationOf(credential);
      const installationUrl = addresses.get(number);
      if (installationUrl === undefined) return;
      // From the database and not from a setting, which could differ. It never changes.
      own ??= await readInstallation(database);
      if (number !== own && !(await issued.find(credential)))
        throw new Problem('wrong_installation', { installationUrl });
    },
  };
}

/** @throws {Problem} `wrong_installation` for an account that was moved to another installation. */
export function rejectMoved({ movedTo }: { movedTo: string | null }): void {
  if (movedTo !== null) throw new Problem('wrong_installation', { installationUrl: movedTo });
}
