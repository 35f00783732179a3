import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import { createSigningSecret } from '../api-key.ts';
import { Problem } from '../problems.ts';
import type { HmacSettings, SignatureSettings, SourcePreset } from './settings.ts';

/** Max difference between the clocks, in seconds; Standard Webhooks recommends some minutes. */
const MAX_CLOCK_DIFFERENCE_S = 300;
const STANDARD_SECRET = /^(?:whsec_)?([A-Za-z0-9+/_-]+={0,2})$/;
const [HEX, BASE64] = [/^(?:[0-9a-f]{2})+$/i, /^[A-Za-z0-9+/_-]+={0,2}$/];

/** A delivery as received, and the clock to compare its timestamp with. */
interface SignedDelivery {
  headers: IncomingHttpHeaders;
  /** The exact bytes. */
  body: Buffer;
  /** Milliseconds since 1970. */
  now: number;
}

/**
 * Checks that a delivery was signed with one of the secrets, in constant time.
 *
 * @throws {Problem} `missing_signature` or `invalid_signature`, with a detail that names the header.
 */
export function authenticateDelivery(
  delivery: SignedDelivery,
  settings: SignatureSettings,
  secrets: readonly string[],
): void {
  if (settings.scheme === 'standard-webhooks') {
    authenticateStandard(delivery, secrets);
    return;
  }
  if (settings.scheme === 'basic') {
    authenticateBasic(delivery, secrets);
    return;
  }
  const value = readHeader(delivery, settings.header);
  const { prefix = '' } = settings;
  const claimed = value.startsWith(prefix) ? value.slice(prefix.length).trim() : '';
  const isAuthentic =
    settings.scheme === 'token'
      ? isOneOf(secrets, claimed)
      : usable(secrets).some((secret) =>
          isEqual(digestOf(settings, secret, delivery.body), decode(settings.encoding, claimed)),
        );
  if (!isAuthentic) throw wrongSignature(settings.header);
}

/** https://www.rfc-editor.org/rfc/rfc7617: the user name ends at the first colon. */
function authenticateBasic(delivery: SignedDelivery, secrets: readonly string[]): void {
  const [, encoded = ''] = /^basic +(\S+)$/i.exec(readHeader(delivery, 'authorization').trim()) ?? [];
  const [, claimed = ''] = /^[^:]*:(.*)$/s.exec(decode('base64', encoded).toString()) ?? [];
  if (!isOneOf(secrets, claimed)) throw wrongSignature('authorization');
}

/** Anybody can sign with an empty secret. */
function usable(secrets: readonly string[]): string[] {
  return secrets.filter((secret) => secret !== '');
}

function isOneOf(secrets: readonly string[], claimed: string): boolean {
  return usable(secrets).some((secret) => isEqual(sha256(secret), sha256(claimed)));
}

function authenticateStandard({ headers, body, now }: SignedDelivery, secrets: readonly string[]): void {
  const delivery = { headers };
  const id = readHeader(delivery, 'webhook-id');
  const timestamp = readHeader(delivery, 'webhook-timestamp');
  const signatures = readHeader(delivery, 'webhook-signature').split(' ');
  if (!/^\d{1,12}$/.test(timestamp)) throw wrongSignature('webhook-timestamp');
  const claimed = signatures.filter((one) => one.startsWith('v1,')).map((one) => decode('base64', one.slice(3)));
  const isAuthentic = secrets.some((secret) => {
    const key = standardKey(secret);
    if (!key) return false;
    const digest = createHmac('sha256', key).update(`${id}.${timestamp}.`).update(body).digest();
    return claimed.some((one) => isEqual(digest, one));
  });
  if (!isAuthentic) throw wrongSignature('webhook-signature');
  const difference = Math.round(Number(timestamp) - now / 1000);
  if (Math.abs(difference) > MAX_CLOCK_DIFFERENCE_S) {
    const side = difference > 0 ? 'after' : 'before';
    throw new Problem('invalid_signature', {
      detail: `The signature is right, but webhook-timestamp is ${Math.abs(difference)} seconds ${side} this service's clock; at most ${MAX_CLOCK_DIFFERENCE_S} are accepted.`,
    });
  }
}

/** The key in a secret of Standard Webhooks; null if it is not base64, or empty: anybody can sign with an empty key. */
function standardKey(secret: string): Buffer | null {
  const encoded = STANDARD_SECRET.exec(secret)?.[1];
  const key = encoded === undefined ? null : Buffer.from(encoded, 'base64');
  return key && key.length > 0 ? key : null;
}

function digestOf({ algorithm }: HmacSettings, secret: string, body: Buffer): Buffer {
  return createHmac(algorithm, secret).update(body).digest();
}

/** Empty, which equals no digest, unless all of the text is in this encoding: Node skips what is not. */
function decode(encoding: HmacSettings['encoding'], claimed: string): Buffer {
  return Buffer.from((encoding === 'hex' ? HEX : BASE64).test(claimed) ? claimed : '', encoding);
}

function sha256(text: string): Buffer {
  return createHmac('sha256', '').update(text).digest();
}

function isEqual(a: Buffer, b: Buffer): boolean {
  return a.length === b.length && timingSafeEqual(a, b);
}

function readHeader({ headers }: Pick<SignedDelivery, 'headers'>, name: string): string {
  const value = headers[name];
  if (typeof value !== 'string' || value === '') {
    throw new Problem('missing_signature', { detail: `The header ${name} is missing. This source needs it.` });
  }
  return value;
}

function wrongSignature(header: string): Problem {
  return new Problem('invalid_signature', {
    detail: `The value of ${header} does not match the body and the secret of this source. Compare the secret with the one on the platform, and send the body unchanged.`,
  });
}

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
