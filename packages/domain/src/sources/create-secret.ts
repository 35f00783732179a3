import { randomBytes } from 'node:crypto';
import { createSigningSecret } from '../api-key.ts';
import type { SourcePreset } from './settings.ts';

/** 32 bytes, as https://www.standardwebhooks.com recommends 24 to 64. */
const STANDARD_BYTES = 32;

/** A new secret in the form that the platform takes. */
export function createSourceSecret(preset: SourcePreset): string {
  return preset === 'standard-webhooks' ? createStandardSecret() : createSigningSecret();
}

/** A new secret of Standard Webhooks: `whsec_` and base64. */
export function createStandardSecret(): string {
  return `whsec_${randomBytes(STANDARD_BYTES).toString('base64')}`;
}
