import { createSourceId } from '@orders/domain/api-key.ts';
import { Problem } from '@orders/domain/problems.ts';
import { createSourceSecret } from '@orders/domain/sources/authenticate-delivery.ts';
import { defaultIdPrefix } from '@orders/domain/sources/id-prefix.ts';
import type { OrderMapping } from '@orders/domain/sources/mapping.ts';
import type { SourcePreset, SourceSettings } from '@orders/domain/sources/settings.ts';
import { lockAccount } from '../accounts/accounts.ts';
import { type SecretsKeys, seal } from '../accounts/seal.ts';
import { readInstallation } from '../installation.ts';
import { type Connection, execute, inTransaction, run } from '../run.ts';
import { findSource, KEPT_VERSIONS, LIVE, type Source } from './sources.ts';

const MAX_SOURCES = 50;

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
  connection: Connection,
  keys: SecretsKeys,
  { accountId, secret, idPrefix, ...source }: NewSource,
  by: string,
): Promise<Source & { secret?: string }> {
  return inTransaction(connection, async (transaction) => {
    // Serializes concurrent calls, so that the count is correct.
    await lockAccount(transaction, accountId);
    const count = 'select count(*) from sources where account_id = $1 and removed_at is null';
    const [existing] = await run<{ count: number }>(transaction, count, [accountId]);
    if ((existing?.count ?? 0) >= MAX_SOURCES) throw new Problem('too_many_sources');
    if (idPrefix !== undefined) await requireFreePrefix(transaction, accountId, idPrefix);
    const created = secret === undefined ? createSourceSecret(source.preset) : undefined;
    const [added] = await run<{ source_number: number }>(
      transaction,
      `insert into sources (account_id, source_id, name, preset, settings, mapping, id_prefix, sealed)
       values ($1, $2, $3, $4, $5, $6, $7, $8) returning source_number`,
      [
        accountId,
        createSourceId(await readInstallation(transaction)),
        source.name,
        source.preset,
        source.settings,
        source.mapping,
        idPrefix ?? defaultIdPrefix(source.name, source.preset, await prefixesOf(transaction, accountId)),
        seal(keys, accountId, secret ?? (created as string)),
      ],
    );
    const sourceNumber = added?.source_number ?? 0;
    await addVersion(transaction, { accountId, sourceNumber, version: 1, mapping: source.mapping, by });
    const stored = (await findSource(transaction, accountId, sourceNumber)) as Source;
    return { ...stored, ...(created !== undefined && { secret: created }) };
  });
}

/** Those of removed sources too: a new source of the same name is not taken for the old one. */
async function prefixesOf(connection: Connection, accountId: number): Promise<ReadonlySet<string>> {
  const select = 'select id_prefix from sources where account_id = $1';
  const rows = await run<{ id_prefix: string }>(connection, select, [accountId]);
  return new Set(rows.map(({ id_prefix }) => id_prefix));
}

/**
 * That of a removed source is free: a person who names it connects the same shop again.
 *
 * @throws {Problem} `id_prefix_taken`.
 */
async function requireFreePrefix(connection: Connection, accountId: number, idPrefix: string): Promise<void> {
  const [other] = await run(
    connection,
    'select from sources where account_id = $1 and id_prefix = $2 and removed_at is null',
    [accountId, idPrefix],
  );
  if (other) throw new Problem('id_prefix_taken');
}

/**
 * Changes the prefix of a source that has no orders.
 *
 * @returns the source; null when the account has no such source.
 * @throws {Problem} `id_prefix_fixed` when it has orders or cancellations, `id_prefix_taken`.
 */
export async function setIdPrefix(
  connection: Connection,
  change: { accountId: number; sourceNumber: number; idPrefix: string },
): Promise<Source | null> {
  const { accountId, sourceNumber, idPrefix } = change;
  const key = [accountId, sourceNumber];
  return inTransaction(connection, async (transaction) => {
    // Serializes concurrent calls, so that no two take the same one.
    await lockAccount(transaction, accountId);
    const [current] = await run<Pick<Source, 'id_prefix' | 'used_at'>>(
      transaction,
      `select id_prefix, used_at from sources where ${LIVE} for update`,
      key,
    );
    if (!current) return null;
    if (current.id_prefix !== idPrefix) {
      if (current.used_at !== null) throw new Problem('id_prefix_fixed');
      await requireFreePrefix(transaction, accountId, idPrefix);
      await execute(transaction, `update sources set id_prefix = $3 where ${LIVE}`, [...key, idPrefix]);
    }
    return findSource(transaction, accountId, sourceNumber);
  });
}

/**
 * Stores a new version of a source's mapping. Deliveries use it within 5 seconds.
 *
 * @param change.expected the version that it was made from; without one, it replaces any.
 * @returns the source; null when the account has no such source.
 * @throws {Problem} `conflicting_state` when the source has another version than the expected one.
 */
export async function setMapping(
  connection: Connection,
  change: { accountId: number; sourceNumber: number; mapping: OrderMapping; by: string; expected?: number },
): Promise<Source | null> {
  const { accountId, sourceNumber, mapping, expected = null } = change;
  return inTransaction(connection, async (transaction) => {
    const [updated] = await run<{ version: number }>(
      transaction,
      `update sources set mapping = $3, mapping_version = mapping_version + 1
       where ${LIVE} and ($4::int is null or mapping_version = $4::int) returning mapping_version as version`,
      [accountId, sourceNumber, mapping, expected],
    );
    if (!updated && (await findSource(transaction, accountId, sourceNumber))) throw new Problem('conflicting_state');
    if (!updated) return null;
    const { version } = updated;
    await addVersion(transaction, { ...change, version });
    await execute(
      transaction,
      'delete from source_mappings where account_id = $1 and source_number = $2 and version <= $3',
      [accountId, sourceNumber, version - KEPT_VERSIONS],
    );
    return findSource(transaction, accountId, sourceNumber);
  });
}

async function addVersion(
  connection: Connection,
  added: { accountId: number; sourceNumber: number; version: number; mapping: OrderMapping; by: string },
): Promise<void> {
  const { accountId, sourceNumber, version, mapping, by } = added;
  await execute(
    connection,
    'insert into source_mappings (account_id, source_number, version, mapping, created_by) values ($1, $2, $3, $4, $5)',
    [accountId, sourceNumber, version, mapping, by],
  );
}

/**
 * Replaces the id in a source's URL; the old URL stops working within 5 seconds.
 *
 * @returns the source; null when the account has no such source.
 */
export async function replaceSourceId(
  connection: Connection,
  accountId: number,
  sourceNumber: number,
): Promise<Source | null> {
  const replace = `update sources set source_id = $3 where ${LIVE}`;
  const sourceId = createSourceId(await readInstallation(connection));
  await execute(connection, replace, [accountId, sourceNumber, sourceId]);
  return findSource(connection, accountId, sourceNumber);
}

/**
 * Replaces a source's secret. The old one is accepted for `overlapMs` more milliseconds.
 *
 * @param change.secret without one, it is created.
 * @returns as `createSource`; null when the account has no such source.
 */
export async function replaceSourceSecret(
  connection: Connection,
  keys: SecretsKeys,
  change: { accountId: number; sourceNumber: number; secret?: string | undefined; overlapMs: number },
): Promise<(Source & { secret?: string }) | null> {
  const { accountId, sourceNumber, overlapMs } = change;
  const current = await findSource(connection, accountId, sourceNumber);
  if (!current) return null;
  const created = change.secret === undefined ? createSourceSecret(current.preset) : undefined;
  const sealed = seal(keys, accountId, change.secret ?? (created as string));
  await execute(
    connection,
    `update sources set sealed = $3, previous_sealed = sealed, previous_until = now() + $4 * interval '1 ms' where ${LIVE}`,
    [accountId, sourceNumber, sealed, overlapMs],
  );
  const source = await findSource(connection, accountId, sourceNumber);
  return source && { ...source, ...(created !== undefined && { secret: created }) };
}

/**
 * Removes a source: its URL stops working within 5 seconds. Its dead receipts can still be redriven. Idempotent.
 *
 * @returns whether the account had such a source.
 */
export async function removeSource(connection: Connection, accountId: number, sourceNumber: number): Promise<boolean> {
  const remove = `update sources set removed_at = now(), sealed = null, previous_sealed = null where ${LIVE}`;
  return (await execute(connection, remove, [accountId, sourceNumber])) > 0;
}
