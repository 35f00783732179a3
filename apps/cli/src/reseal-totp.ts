import type { SecretsKeys } from '@orders/database/accounts/seal.ts';
import { authSecretsOf } from '@orders/database/users/auth-secrets.ts';
import { parseEnvelope, symmetricDecrypt, symmetricEncrypt } from 'better-auth/crypto';

/** Encrypts secrets of authenticator apps again, in the way of the portal's authentication library; for `resealTotpSecrets`. */
export function createTotpResealer(secretsKeys: SecretsKeys): (sealed: string) => Promise<string | null> {
  const secrets = authSecretsOf(secretsKeys);
  const currentVersion = secrets[0]?.version as number;
  const key = { keys: new Map(secrets.map(({ version, value }) => [version, value])), currentVersion };
  return async (sealed) => {
    const secret = await symmetricDecrypt({ key, data: sealed }).catch(() => null);
    if (secret === null) return null;
    return parseEnvelope(sealed)?.version === currentVersion ? sealed : symmetricEncrypt({ key, data: secret });
  };
}
