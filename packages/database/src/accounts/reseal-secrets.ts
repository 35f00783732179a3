import type { Knex } from 'knex';
import { isSealedWithCurrentKey, type SecretsKeys, seal, tryToUnseal } from './seal.ts';

/** Counts of all signing secrets, including those that were rotated out. */
export interface Resealed {
  resealed: number;
  /** Already sealed with the current key. */
  unchanged: number;
  /** Accounts with a secret that no key decrypts; ascending. */
  unreadable: number[];
}

interface SealedRow {
  account_id: number;
  secret_id: number;
  sealed: Buffer;
}

/**
 * Seals every signing secret of the previous key with the current key; secrets that no key decrypts stay as they are. `trx` must be a
 * transaction: until it ends, new secrets wait for its lock, as one sealed with the previous key would be missed.
 */
export async function resealSecrets(trx: Knex, keys: SecretsKeys): Promise<Resealed> {
  await trx.raw('lock table signing_secrets in share row exclusive mode');
  const rows: SealedRow[] = await trx('signing_secrets').select('account_id', 'secret_id', 'sealed');
  const outcome = { resealed: 0, unchanged: 0 };
  const unreadable = new Set<number>();
  for (const { account_id, secret_id, sealed } of rows) {
    if (isSealedWithCurrentKey(keys, account_id, sealed)) {
      outcome.unchanged += 1;
      continue;
    }
    const secret = tryToUnseal(keys, account_id, sealed);
    if (secret === null) unreadable.add(account_id);
    else
      outcome.resealed += await trx('signing_secrets')
        .where({ account_id, secret_id })
        .update({ sealed: seal(keys, account_id, secret) });
  }
  return { ...outcome, unreadable: [...unreadable].toSorted((a, b) => a - b) };
}
