import { RATE_LIMIT } from '@orders/database/accounts/accounts.ts';
import type { Database } from '@orders/database/connect.ts';
import { run } from '@orders/database/run.ts';
import type { AccountRateLimit } from '@orders/domain/rate-limit.ts';
import type { OrderMapping } from '@orders/domain/sources/mapping.ts';
import type { SourcePreset, SourceSettings } from '@orders/domain/sources/settings.ts';

/** A source with its account, as intake needs it for each delivery. */
export interface SourceOfDelivery {
  sourceId: string;
  sourceNumber: number;
  accountId: number;
  suspended: boolean;
  /** The base URL of intake of the installation to which the account was moved. */
  movedTo: string | null;
  /** Whether the account is being moved to another installation. */
  isMoving: boolean;
  /** Whether it is of a test account. */
  isTest: boolean;
  rateLimit: AccountRateLimit;
  preset: SourcePreset;
  settings: SourceSettings;
  mapping: OrderMapping;
  /** See `storedOrderId`. It stays once the source is used. */
  idPrefix: string;
  isUsed: boolean;
  /** The accepted secrets, encrypted, newest first. */
  sealedSecrets: Buffer[];
}

const FIND = {
  name: 'find-sources',
  text: `
select wanted.index::int as "index", s.source_id as "sourceId", s.source_number as "sourceNumber", s.account_id as "accountId",
       a.suspended_at is not null as suspended, a.moved_to as "movedTo",
       a.moving_since is not null and a.moved_to is null as "isMoving", a.test_of is not null as "isTest",
       ${RATE_LIMIT} as "rateLimit", s.preset, s.settings, s.mapping,
       s.id_prefix as "idPrefix", s.used_at is not null as "isUsed",
       case when s.previous_until > now() then array[s.sealed, s.previous_sealed] else array[s.sealed] end as "sealedSecrets"
from unnest($1::text[]) with ordinality as wanted(source_id, index)
cross join lateral (select * from sources where source_id = wanted.source_id and removed_at is null offset 0) as s
join accounts a on a.account_id = s.account_id`,
};

/** Finds sources by the ids in their URLs. @returns one element per id, in the same order; null for an unknown one. */
export async function findSources(
  database: Database,
  sourceIds: readonly string[],
): Promise<(SourceOfDelivery | null)[]> {
  const rows = await run<SourceOfDelivery & { index: number }>(database, FIND, [sourceIds]);
  const found: (SourceOfDelivery | null)[] = sourceIds.map(() => null);
  for (const { index, ...source } of rows) found[index - 1] = source;
  return found;
}
