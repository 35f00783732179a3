import { bytesOf, toHex } from './bodies.ts';

const HMAC = { name: 'HMAC', hash: 'SHA-256' };
const encoder = new TextEncoder();

/**
 * The value of `x-service-signature` for a body.
 *
 * @param body the exact bytes that will be sent; a string is encoded as UTF-8.
 * @param secret as shown in the portal, with its prefix.
 * @returns `sha256=` and 64 hexadecimal digits.
 * @throws {TypeError} without a secret, and for a string that is not well-formed.
 */
export async function signBody(body: string | Uint8Array, secret: string): Promise<string> {
  const signature = await crypto.subtle.sign('HMAC', await importSecret(secret, 'sign'), bytesOf(body));
  return `sha256=${toHex(signature)}`;
}

export function assertSigningSecret(secret: string | undefined): asserts secret is string {
  if (!secret) throw new TypeError('A webhook needs the signingSecret of your account ("oss_…").');
}

/** The header of a signed request. @throws {TypeError} without a secret. */
export async function signatureHeader(body: Uint8Array, secret: string | undefined): Promise<Record<string, string>> {
  assertSigningSecret(secret);
  return { 'x-service-signature': await signBody(body, secret) };
}

/**
 * Verifies the signature of a body in constant time.
 *
 * @param body the exact bytes received, before parsing.
 * @param header with or without `sha256=`, in upper or lower case; a malformed header is a wrong signature.
 * @param secret one secret, or several during a rotation; a signature by any of them is valid.
 * @throws {TypeError} without a secret, and for a string that is not well-formed.
 */
export async function verifySignature(
  body: string | Uint8Array,
  header: string | null | undefined,
  secret: string | readonly string[],
): Promise<boolean> {
  const keys = await Promise.all([secret].flat().map((one) => importSecret(one, 'verify')));
  if (keys.length === 0) throw new TypeError('The secret to verify with is missing.');
  const hex = /^\s*(?:sha256=)?([0-9a-f]{64})\s*$/i.exec(header ?? '')?.[1];
  if (!hex) return false;
  const signature = Uint8Array.from(hex.match(/../g) ?? [], (pair) => Number.parseInt(pair, 16));
  const bytes = bytesOf(body);
  const verdicts = await Promise.all(keys.map((key) => crypto.subtle.verify('HMAC', key, signature, bytes)));
  return verdicts.includes(true);
}

function importSecret(secret: string, use: 'sign' | 'verify') {
  if (typeof secret !== 'string' || secret === '') throw new TypeError('The signing secret is missing.');
  return crypto.subtle.importKey('raw', encoder.encode(secret), HMAC, false, [use]);
}
