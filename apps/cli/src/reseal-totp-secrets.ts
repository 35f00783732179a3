import type { Knex } from 'knex';

/** Counts of the secrets of authenticator apps, also of those that are being set up. */
export interface ResealedTotp {
  resealed: number;
  unchanged: number;
  /** E-mail addresses of users with a secret that no key decrypts. */
  unreadable: string[];
}

/**
 * Encrypts the secret of each authenticator app again. `trx` must be a transaction: until it ends, new secrets wait for its lock, as one
 * encrypted with the previous key would be missed.
 *
 * @param reseal encrypts a secret with the current key. It returns an unchanged text if that key encrypted it, and null if no key decrypts it.
 */
export async function resealTotpSecrets(
  trx: Knex,
  reseal: (sealed: string) => Promise<string | null>,
): Promise<ResealedTotp> {
  const outcome: ResealedTotp = { resealed: 0, unchanged: 0, unreadable: [] };
  await trx.raw('lock table user_second_factors in share row exclusive mode');
  const rows: { id: string; email: string; secret: string; pending_secret: string | null }[] = await trx(
    'user_second_factors as f',
  )
    .join('users as u', 'u.id', 'f.user_id')
    .orderBy('u.email')
    .select('f.id', 'u.email', 'f.secret', 'f.pending_secret');
  for (const row of rows) {
    for (const column of ['secret', 'pending_secret'] as const) {
      const sealed = row[column];
      if (!sealed) continue;
      const next = await reseal(sealed);
      if (next === null) outcome.unreadable.push(row.email);
      else if (next === sealed) outcome.unchanged += 1;
      else
        outcome.resealed += await trx('user_second_factors')
          .where({ id: row.id })
          .update({ [column]: next });
    }
  }
  return { ...outcome, unreadable: [...new Set(outcome.unreadable)] };
}
