import type { OrderMapping } from '@orders/domain/sources/mapping.ts';
import type { SourcePreset, SourceSettings } from '@orders/domain/sources/settings.ts';
import { type Connection, run } from '../run.ts';

/** A webhook of a platform, without its secret. */
export interface Source {
  account_id: number;
  source_number: number;
  /** The id in its URL. */
  source_id: string;
  name: string;
  preset: SourcePreset;
  settings: SourceSettings;
  mapping: OrderMapping;
  mapping_version: number;
  created_at: Date;
  /** Whether its secret is another one than the one it was created with. */
  secret_replaced: boolean;
  /** See `storedOrderId`. */
  id_prefix: string;
  /** When it first took an order or a cancellation; null before. Its prefix stays from then on. */
  used_at: Date | null;
  /** While two secrets are accepted: when the previous one ends. */
  previous_until: Date | null;
}

/** A version of a source's mapping. */
export interface MappingVersion {
  version: number;
  mapping: OrderMapping;
  created_at: Date;
  created_by: string;
}

// The previous secret stays stored after its end.
const SELECT = `
select account_id, source_number, source_id, name, preset, settings, mapping, mapping_version, created_at, id_prefix, used_at,
       previous_sealed is not null as secret_replaced, case when previous_until > now() then previous_until end as previous_until
from sources`;
/** SQL: the source $2 of account $1, unless it was removed. */
export const LIVE = 'account_id = $1::int and source_number = $2::int and removed_at is null';
/** Versions kept of each mapping. */
export const KEPT_VERSIONS = 50;

/** The sources of an account that were not removed, oldest first. */
export async function listSources(connection: Connection, accountId: number): Promise<Source[]> {
  const list = `${SELECT} where account_id = $1 and removed_at is null order by source_number`;
  return run<Source>(connection, list, [accountId]);
}

/** The source of an account with this number, or null. */
export async function findSource(
  connection: Connection,
  accountId: number,
  sourceNumber: number,
): Promise<Source | null> {
  const [source] = await run<Source>(connection, `${SELECT} where ${LIVE}`, [accountId, sourceNumber]);
  return source ?? null;
}

/** SQL: the source of a receipt or an order with the platform's id of the order, as `SourceOfOrder`; null without a source. */
export const sourceOf = (row: 'r' | 'o') => `
  (select jsonb_build_object('name', x.name, 'platform_id', case
       when ${row}.source_order_id = ${row}.receipt_id::text then null
       when x.id_prefix = '' then ${row}.source_order_id
       when starts_with(${row}.source_order_id, x.id_prefix || ':') then substr(${row}.source_order_id, length(x.id_prefix) + 2)
     end)
   from sources x where x.account_id = ${row}.account_id and x.source_number = ${row}.source_number)`;

/** The newest versions of a source's mapping, newest first. */
export async function listMappings(
  connection: Connection,
  accountId: number,
  sourceNumber: number,
): Promise<MappingVersion[]> {
  return run<MappingVersion>(
    connection,
    `select version, mapping, created_at, created_by from source_mappings where account_id = $1 and source_number = $2
     order by version desc limit ${KEPT_VERSIONS}`,
    [accountId, sourceNumber],
  );
}
