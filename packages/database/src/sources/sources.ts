import { createSourceId } from '@orders/domain/api-key.ts';
import { Problem } from '@orders/domain/problems.ts';
import type { SourceOfReceipt } from '@orders/domain/receipt-json.ts';
import { defaultIdPrefix } from '@orders/domain/sources/id-prefix.ts';
import type { OrderMapping } from '@orders/domain/sources/mapping.ts';
import { createSourceSecret } from '@orders/domain/sources/read-secret.ts';
import type { SourcePreset, SourceSettings } from '@orders/domain/sources/settings.ts';
import type { Knex } from 'knex';
import { lockAccount } from '../accounts/accounts.ts';
import { type SecretsKeys, seal } from '../accounts/seal.ts';
import { SOURCE } from '../receipts/find-receipt.ts';

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

const COLUMNS = [
  'account_id',
  'source_number',
  'source_id',
  'name',
  'preset',
  'settings',
  'mapping',
  'mapping_version',
  'created_at',
  'id_prefix',
  'used_at',
];
const PREVIOUS_UNTIL = 'case when previous_until > now() then previous_until end as previous_until';
// The previous secret stays stored after its end.
const SECRET_REPLACED = 'previous_sealed is not null as secret_replaced';
const MAX_SOURCES = 50;
/** Versions kept of each mapping. */
const KEPT_VERSIONS = 50;

/** The sources of an account that were not removed, oldest first. */
export async function listSources(db: Knex, accountId: number): Promise<Source[]> {
  return select(db).where({ account_id: accountId }).whereNull('removed_at').orderBy('source_number');
}

/** The source of an account with this number, or null. */
export async function findSource(db: Knex, accountId: number, sourceNumber: number): Promise<Source | null> {
  const [source] = await select(db)
    .where({ account_id: accountId, source_number: sourceNumber })
    .whereNull('removed_at');
  return source ?? null;
}

/** The source that a receipt came to, as shown with it; null if it came to none. */
export async function findSourceOfReceipt(
  db: Knex,
  accountId: number,
  receiptId: string,
): Promise<SourceOfReceipt | null> {
  const { rows } = await db.raw(
    `select ${SOURCE} as source from receipts r where r.receipt_id = ? and r.account_id = ?`,
    [receiptId, accountId],
  );
  return rows[0]?.source ?? null;
}

function select(db: Knex): Knex.QueryBuilder<Source, Source[]> {
  return db('sources').select(COLUMNS).select(db.raw(SECRET_REPLACED), db.raw(PREVIOUS_UNTIL));
}

/** A new source. */
export interface NewSource {
  accountId: number;
  name: string;
  preset: SourcePreset;
  settings: SourceSettings;
  mapping: OrderMapping;
  /** Without one, it is created. */
  secret?: string | undefined;
  /** Without one, it is made from the name. */
  idPrefix?: string | undefined;
}

/**
 * Creates a source.
 *
 * @param by who creates it.
 * @returns the source, and its secret if it was created here; it cannot be read again.
 * @throws {Problem} `too_many_sources` when the account has 50, `id_prefix_taken`.
 */
export async function createSource(
  db: Knex,
  keys: SecretsKeys,
  { accountId, secret, idPrefix, ...source }: NewSource,
  by: string,
): Promise<Source & { secret?: string }> {
  return db.transaction(async (trx) => {
    // Serializes concurrent calls, so that the count is correct.
    await lockAccount(trx, accountId);
    const [existing] = await trx('sources').where({ account_id: accountId }).whereNull('removed_at').count();
    if (Number(existing?.count) >= MAX_SOURCES) throw new Problem('too_many_sources');
    if (idPrefix !== undefined) await requireFreePrefix(trx, accountId, idPrefix);
    const created = secret === undefined ? createSourceSecret(source.preset) : undefined;
    const [{ source_number }] = await trx('sources')
      .insert({
        account_id: accountId,
        source_id: createSourceId(),
        name: source.name,
        preset: source.preset,
        settings: JSON.stringify(source.settings),
        mapping: JSON.stringify(source.mapping),
        id_prefix: idPrefix ?? defaultIdPrefix(source.name, source.preset, await prefixesOf(trx, accountId)),
        sealed: seal(keys, accountId, secret ?? (created as string)),
      })
      .returning('source_number');
    await addVersion(trx, { accountId, sourceNumber: source_number, version: 1, mapping: source.mapping, by });
    const stored = (await findSource(trx, accountId, source_number)) as Source;
    return { ...stored, ...(created !== undefined && { secret: created }) };
  });
}

/** Those of removed sources too: a new source of the same name is not taken for the old one. */
async function prefixesOf(trx: Knex, accountId: number): Promise<ReadonlySet<string>> {
  const rows = await trx('sources').where({ account_id: accountId }).select('id_prefix');
  return new Set(rows.map(({ id_prefix }) => id_prefix));
}

/**
 * That of a removed source is free: a person who names it connects the same shop again.
 *
 * @throws {Problem} `id_prefix_taken`.
 */
async function requireFreePrefix(trx: Knex, accountId: number, idPrefix: string): Promise<void> {
  const [other] = await trx('sources')
    .where({ account_id: accountId, id_prefix: idPrefix })
    .whereNull('removed_at')
    .select('source_number');
  if (other) throw new Problem('id_prefix_taken');
}

/**
 * Changes the prefix of a source that has no orders.
 *
 * @returns the source; null when the account has no such source.
 * @throws {Problem} `id_prefix_fixed` when it has orders or cancellations, `id_prefix_taken`.
 */
export async function setIdPrefix(
  db: Knex,
  change: { accountId: number; sourceNumber: number; idPrefix: string },
): Promise<Source | null> {
  const { accountId, sourceNumber, idPrefix } = change;
  return db.transaction(async (trx) => {
    // Serializes concurrent calls, so that no two take the same one.
    await lockAccount(trx, accountId);
    const [current] = await selectLive(trx, accountId, sourceNumber).forUpdate().select('id_prefix', 'used_at');
    if (!current) return null;
    if (current.id_prefix !== idPrefix) {
      if (current.used_at !== null) throw new Problem('id_prefix_fixed');
      await requireFreePrefix(trx, accountId, idPrefix);
      await selectLive(trx, accountId, sourceNumber).update({ id_prefix: idPrefix });
    }
    return findSource(trx, accountId, sourceNumber);
  });
}

/**
 * Stores a new version of a source's mapping. Deliveries use it within 5 seconds.
 *
 * @returns the source; null when the account has no such source.
 */
export async function setMapping(
  db: Knex,
  change: { accountId: number; sourceNumber: number; mapping: OrderMapping; by: string },
): Promise<Source | null> {
  const { accountId, sourceNumber, mapping } = change;
  return db.transaction(async (trx) => {
    const [updated] = await selectLive(trx, accountId, sourceNumber)
      .update({ mapping: JSON.stringify(mapping), mapping_version: trx.raw('mapping_version + 1') })
      .returning('mapping_version');
    if (!updated) return null;
    const version = updated.mapping_version;
    await addVersion(trx, { ...change, version });
    await trx('source_mappings')
      .where({ account_id: accountId, source_number: sourceNumber })
      .where('version', '<=', version - KEPT_VERSIONS)
      .delete();
    return findSource(trx, accountId, sourceNumber);
  });
}

async function addVersion(
  trx: Knex,
  added: { accountId: number; sourceNumber: number; version: number; mapping: OrderMapping; by: string },
): Promise<void> {
  await trx('source_mappings').insert({
    account_id: added.accountId,
    source_number: added.sourceNumber,
    version: added.version,
    mapping: JSON.stringify(added.mapping),
    created_by: added.by,
  });
}

/** The newest versions of a source's mapping, newest first. */
export async function listMappings(db: Knex, accountId: number, sourceNumber: number): Promise<MappingVersion[]> {
  return db('source_mappings')
    .where({ account_id: accountId, source_number: sourceNumber })
    .orderBy('version', 'desc')
    .limit(KEPT_VERSIONS)
    .select('version', 'mapping', 'created_at', 'created_by');
}

/**
 * Replaces the id in a source's URL; the old URL stops working within 5 seconds.
 *
 * @returns the source; null when the account has no such source.
 */
export async function replaceSourceId(db: Knex, accountId: number, sourceNumber: number): Promise<Source | null> {
  await selectLive(db, accountId, sourceNumber).update({ source_id: createSourceId() });
  return findSource(db, accountId, sourceNumber);
}

/**
 * Replaces a source's secret. The old one is accepted for `overlapMs` more milliseconds.
 *
 * @param change.secret without one, it is created.
 * @returns as `createSource`; null when the account has no such source.
 */
export async function replaceSourceSecret(
  db: Knex,
  keys: SecretsKeys,
  change: { accountId: number; sourceNumber: number; secret?: string | undefined; overlapMs: number },
): Promise<(Source & { secret?: string }) | null> {
  const { accountId, sourceNumber, overlapMs } = change;
  const current = await findSource(db, accountId, sourceNumber);
  if (!current) return null;
  const created = change.secret === undefined ? createSourceSecret(current.preset) : undefined;
  await selectLive(db, accountId, sourceNumber).update({
    sealed: seal(keys, accountId, change.secret ?? (created as string)),
    previous_sealed: db.raw('sealed'),
    previous_until: db.raw("now() + ? * interval '1 ms'", [overlapMs]),
  });
  const source = await findSource(db, accountId, sourceNumber);
  return source && { ...source, ...(created !== undefined && { secret: created }) };
}

/**
 * Removes a source: its URL stops working within 5 seconds. Its dead receipts can still be redriven. Idempotent.
 *
 * @returns whether the account had such a source.
 */
export async function removeSource(db: Knex, accountId: number, sourceNumber: number): Promise<boolean> {
  const removed = await selectLive(db, accountId, sourceNumber).update({
    removed_at: db.fn.now(),
    sealed: null,
    previous_sealed: null,
  });
  return removed > 0;
}

function selectLive(db: Knex, accountId: number, sourceNumber: number): Knex.QueryBuilder {
  return db('sources').where({ account_id: accountId, source_number: sourceNumber }).whereNull('removed_at');
}
