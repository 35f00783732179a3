import { hkdfSync } from 'node:crypto';
import { fingerprintOf, type SecretsKeys } from '../accounts/seal.ts';

/** A key of the portal's authentication library. What it encrypts names the version of its key. */
export interface AuthSecret {
  version: number;
  value: string;
}

/** The keys of the portal's authentication library, first the one that signs and encrypts. They are derived from `SECRETS_KEY`. */
export function authSecretsOf(keys: SecretsKeys): AuthSecret[] {
  const secrets = (Buffer.isBuffer(keys) ? [keys] : [...keys]).map((key) => ({
    version: Number.parseInt(fingerprintOf(key), 16),
    value: Buffer.from(hkdfSync('sha256', key, '', 'portal sessions', 32)).toString('base64'),
  }));
  // The library rejects a key that is given twice.
  return secrets.filter(({ version }, index) => index === 0 || version !== secrets[0]?.version);
}
