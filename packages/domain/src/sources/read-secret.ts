import { randomBytes } from 'node:crypto';
import { createSigningSecret } from '../api-key.ts';
import { Problem } from '../problems.ts';
import { standardKey } from './authenticate-delivery.ts';
import type { SignatureSettings, SourcePreset } from './settings.ts';

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

const MAX_LENGTH = 1_000;
/** A shorter one is a mistake, or can be guessed. */
const MIN_LENGTH = 8;
/** https://www.standardwebhooks.com requires 24 to 64. */
const MIN_STANDARD_BYTES = 24;

/**
 * Reads a secret that was copied from a platform, without the white space around it.
 *
 * @throws {Problem} `invalid_request`, without repeating the secret.
 */
export function readSourceSecret({ scheme }: SignatureSettings, input: string): string {
  const secret = input.trim();
  const detail = /\p{Cc}|\p{Cs}/u.test(secret)
    ? 'The secret must be one line.'
    : secret.length > MAX_LENGTH
      ? `The secret has more than ${MAX_LENGTH} characters.`
      : scheme === 'standard-webhooks'
        ? standardProblem(secret)
        : scheme === 'token' && /[^\x21-\x7e]/.test(secret)
          ? 'The secret is sent in a header, so it must be ASCII without spaces.'
          : secret.length < MIN_LENGTH
            ? `The secret must have at least ${MIN_LENGTH} characters.`
            : null;
  if (detail !== null) throw new Problem('invalid_request', { detail });
  return secret;
}

function standardProblem(secret: string): string | null {
  const key = standardKey(secret);
  if (key && key.length >= MIN_STANDARD_BYTES) return null;
  return `The secret must be whsec_ and the base64 of at least ${MIN_STANDARD_BYTES} bytes, as Standard Webhooks has it.`;
}
