import { isSealedWithCurrentKey, type SecretsKeys, seal, tryToUnseal } from '@orders/database/accounts/seal.ts';
import { type Connection, execute, run } from '@orders/database/run.ts';
import { authSecretsOf } from '@orders/database/users/auth-secrets.ts';
import { parseEnvelope, symmetricDecrypt, symmetricEncrypt } from 'better-auth/crypto';

/** Counts of all secrets of accounts, sources and endpoints, including those that were rotated out. */
interface Resealed {
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
 * Seals every secret of the previous key with the current key; secrets that no key decrypts stay as they are. It must be called in a
 * transaction: until it ends, new secrets wait for its lock, as one sealed with the previous key would be missed.
 */
export async function resealSecrets(connection: Connection, keys: SecretsKeys): Promise<Resealed> {
  const outcome = { resealed: 0, unchanged: 0 };
  const unreadable = new Set<number>();
  for (const { table, id, column } of SECRETS) {
    await execute(connection, `lock table ${table} in share row exclusive mode`);
    const rows = await run<SealedRow>(
      connection,
      `select account_id, ${id} as id, ${column} as sealed from ${table} where ${column} is not null`,
    );
    for (const { account_id, id: value, sealed } of rows) {
      if (isSealedWithCurrentKey(keys, account_id, sealed)) {
        outcome.unchanged += 1;
        continue;
      }
      const secret = tryToUnseal(keys, account_id, sealed);
      if (secret === null) unreadable.add(account_id);
      else
        outcome.resealed += await execute(
          connection,
          `update ${table} set ${column} = $3 where account_id = $1 and ${id} = $2`,
          [account_id, value, seal(keys, account_id, secret)],
        );
    }
  }
  return { ...outcome, unreadable: [...unreadable].toSorted((a, b) => a - b) };
}

/** Counts of the secrets of authenticator apps, also of those that are being set up. */
interface ResealedTotp {
  resealed: number;
  unchanged: number;
  /** E-mail addresses of users with a secret that no key decrypts. */
  unreadable: string[];
}

/**
 * Encrypts the secret of each authenticator app again. It must be called in a transaction: until it ends, new secrets wait for its lock, as one
 * encrypted with the previous key would be missed.
 */
export async function resealTotpSecrets(connection: Connection, keys: SecretsKeys): Promise<ResealedTotp> {
  const reseal = createTotpResealer(keys);
  const outcome: ResealedTotp = { resealed: 0, unchanged: 0, unreadable: [] };
  await execute(connection, 'lock table user_second_factors in share row exclusive mode');
  const rows = await run<{ id: string; email: string; secret: string; pending_secret: string | null }>(
    connection,
    `select f.id, u.email, f.secret, f.pending_secret from user_second_factors f join users u on u.id = f.user_id
     order by u.email`,
  );
  for (const row of rows) {
    for (const column of ['secret', 'pending_secret'] as const) {
      const sealed = row[column];
      if (!sealed) continue;
      const next = await reseal(sealed);
      if (next === null) outcome.unreadable.push(row.email);
      else if (next === sealed) outcome.unchanged += 1;
      else
        outcome.resealed += await execute(connection, `update user_second_factors set ${column} = $2 where id = $1`, [
          row.id,
          next,
        ]);
    }
  }
  return { ...outcome, unreadable: [...new Set(outcome.unreadable)] };
}

/**
 * Encrypts the secret of an authenticator app with the current key, in the way of the portal's authentication library. It returns an
 * unchanged text if that key encrypted it, and null if no key decrypts it.
 */
function createTotpResealer(secretsKeys: SecretsKeys): (sealed: string) => Promise<string | null> {
  const secrets = authSecretsOf(secretsKeys);
  const currentVersion = secrets[0]?.version as number;
  const key = { keys: new Map(secrets.map(({ version, value }) => [version, value])), currentVersion };
  return async (sealed) => {
    const secret = await symmetricDecrypt({ key, data: sealed }).catch(() => null);
    if (secret === null) return null;
    return parseEnvelope(sealed)?.version === currentVersion ? sealed : symmetricEncrypt({ key, data: secret });
  };
}
