import { isSealedWithCurrentKey, type SecretsKeys, seal, tryToUnseal } from '@orders/database/accounts/seal.ts';
import type { Knex } from 'knex';

/** Counts of all secrets of accounts, sources and endpoints, including those that were rotated out. */
export interface Resealed {
  resealed: number;
  /** Already sealed with the current key. */
  unchanged: number;
  /** Accounts with a secret that no key decrypts; ascending. */
  unreadable: number[];
}

interface SealedRow {
  account_id: number;
  id: number;
  sealed: Buffer;
}

/** The columns with sealed secrets. */
const SECRETS = [
  { table: 'signing_secrets', id: 'secret_id', column: 'sealed' },
  { table: 'sources', id: 'source_number', column: 'sealed' },
  { table: 'sources', id: 'source_number', column: 'previous_sealed' },
  { table: 'endpoints', id: 'endpoint_number', column: 'sealed' },
  { table: 'endpoints', id: 'endpoint_number', column: 'previous_sealed' },
] as const;

/**
 * Seals every secret of the previous key with the current key; secrets that no key decrypts stay as they are. `trx` must be a
 * transaction: until it ends, new secrets wait for its lock, as one sealed with the previous key would be missed.
 */
export async function resealSecrets(trx: Knex, keys: SecretsKeys): Promise<Resealed> {
  const outcome = { resealed: 0, unchanged: 0 };
  const unreadable = new Set<number>();
  for (const { table, id, column } of SECRETS) {
    await trx.raw('lock table ?? in share row exclusive mode', [table]);
    const rows: SealedRow[] = await trx(table).whereNotNull(column).select('account_id', { id, sealed: column });
    for (const { account_id, id: value, sealed } of rows) {
      if (isSealedWithCurrentKey(keys, account_id, sealed)) {
        outcome.unchanged += 1;
        continue;
      }
      const secret = tryToUnseal(keys, account_id, sealed);
      if (secret === null) unreadable.add(account_id);
      else
        outcome.resealed += await trx(table)
          .where({ account_id, [id]: value })
          .update({ [column]: seal(keys, account_id, secret) });
    }
  }
  return { ...outcome, unreadable: [...unreadable].toSorted((a, b) => a - b) };
}
