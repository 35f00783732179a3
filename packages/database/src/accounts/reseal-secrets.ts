import type { Knex } from 'knex';
import { isSealedAnew, type SecretsKeys, seal, tryToUnseal } from './seal.ts';

/** What became of all signing secrets, those included that were rotated out. */
export interface Resealed {
  resealed: number;
  /** They are sealed with the current key already. */
  unchanged: number;
  /** Accounts with a secret that no key opens; ascending. */
  unreadable: number[];
}

interface SealedRow {
  account_id: number;
  secret_id: number;
  sealed: Buffer;
}

/**
 * Seals every signing secret with the current key that still is with the previous one; what no key opens stays as it is. Until the
 * transaction ends that `trx` must be, whoever would make a secret waits: it would come after the look, and be with the previous key.
 */
export async function resealSecrets(trx: Knex, keys: SecretsKeys): Promise<Resealed> {
  await trx.raw('lock table signing_secrets in share row exclusive mode');
  const rows: SealedRow[] = await trx('signing_secrets').select('account_id', 'secret_id', 'sealed');
  const outcome = { resealed: 0, unchanged: 0 };
  const unreadable = new Set<number>();
  for (const { account_id, secret_id, sealed } of rows) {
    if (isSealedAnew(keys, account_id, sealed)) {
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
