import { createHash, createHmac, timingSafeEqual } from 'node:crypto';
import type { Diagnosis } from '../rejections.ts';
import { claimedDigest } from '../signature.ts';
import { reserializations } from './reserialize.ts';

/** What a refused webhook was, and what it can be compared with. */
export interface WrongSignature {
  /** The `x-service-signature` as it came. */
  header: string;
  body: Buffer;
  /** Newest first; those that do not verify any more too. */
  secrets: readonly { secret: string; isLive: boolean }[];
  apiKey: string;
}

/** Bytes hashed in search of what a body was before it was serialized again; a few milliseconds of work. */
const SEARCH_BYTES = 500_000;

const HEX = /^[0-9a-f]+$/i;
const SHA256_HEX = 64;
/** Bytes of the digests of SHA-256, and of SHA-1, SHA-384 and SHA-512. */
const SHA256_BYTES = 32;
const OTHER_DIGESTS = [20, 48, 64];
/** What other services write before a signature, and quotes. */
const DRESSING = /^["']?(?:(?:hmac[-_]?)?sha-?\d+|hmac|v\d+|sig(?:nature)?|hex|base64)\s*[=:,\s]\s*|^["']|["']$/gi;
/** What a handler that never saw the body signs in its place. */
const NO_BODY = ['', '{}', 'undefined', 'null', '[object Object]'];

/** What most likely went wrong with a signature that does not verify. Each comparison takes the same time whatever it finds. */
export function diagnoseSignature(wrong: WrongSignature): Diagnosis<'invalid_signature'> {
  return diagnoseForm(wrong.header) ?? diagnoseDigest(wrong) ?? 'another_secret';
}

/** What is wrong with how the signature is written; null where it is what the contract asks for. */
function diagnoseForm(header: string): Diagnosis<'invalid_signature'> | null {
  if (claimedDigest(header)) return null;
  const bare = header.replace(DRESSING, '').replace(DRESSING, '');
  if (HEX.test(bare) && bare.length === SHA256_HEX) return 'malformed_header';
  if (HEX.test(bare) && OTHER_DIGESTS.includes(bare.length / 2)) return 'wrong_algorithm';
  if (!/^[\w+/-]+={0,2}$/.test(bare)) return 'malformed_header';
  const decoded = Buffer.from(bare, 'base64');
  // Base64 of the digest, or of its hex.
  if (decoded.length === SHA256_BYTES || HEX.test(decoded.toString('latin1'))) return 'base64_instead_of_hex';
  return OTHER_DIGESTS.includes(decoded.length) ? 'wrong_algorithm' : 'malformed_header';
}

/** What a well-written signature was made of instead of the body and the secret; null when nothing known makes it. */
function diagnoseDigest({ header, body, secrets, apiKey }: WrongSignature): Diagnosis<'invalid_signature'> | null {
  const claimed = Buffer.from(header.slice(-SHA256_HEX), 'hex');
  const live = secrets.filter(({ isLive }) => isLive).map(({ secret }) => secret);
  const old = secrets.filter(({ isLive }) => !isLive).map(({ secret }) => secret);
  const is = (digest: Buffer) => timingSafeEqual(digest, claimed);
  const signs = (key: string | Buffer, signed: string | Buffer) =>
    is(createHmac('sha256', key).update(signed).digest());
  const anySigns = (keys: readonly (string | Buffer)[], texts: readonly (string | Buffer)[]) =>
    keys.some((key) => texts.some((text) => signs(key, text)));

  if (anySigns(old, [body])) return 'previous_secret';
  if (anySigns(live, otherEndings(body))) return 'trailing_newline';
  if (anySigns(live, NO_BODY)) return 'signed_empty_body';
  if (anySigns(live.flatMap(spoilt), [body])) return 'secret_decoded';
  if (anySigns([apiKey, apiKey.replace(/^oik_/, '')], [body])) return 'signed_with_api_key';
  if (live.some((secret) => otherDigests(secret, body).some(is))) return 'wrong_algorithm';
  let left = SEARCH_BYTES;
  for (const text of reserializations(body)) {
    left -= text.length * live.length;
    if (left < 0) return null;
    if (anySigns(live, [text])) return 'body_reserialized';
  }
  return null;
}

/** The body with a line break more or less at its end. */
function otherEndings(body: Buffer): (string | Buffer)[] {
  const text = body.toString('latin1');
  const shorter = [text.replace(/\r?\n$/, ''), text.trimEnd()].filter((one) => one.length < text.length);
  return [`${text}\n`, `${text}\r\n`, ...shorter].map((one) => Buffer.from(one, 'latin1'));
}

/** What becomes of a secret that somebody decodes, cuts or reads with the end of its line. */
function spoilt(secret: string): (string | Buffer)[] {
  const rest = secret.replace(/^oss_/, '');
  const decoded = [secret, rest].flatMap((text) => [Buffer.from(text, 'base64'), Buffer.from(text, 'hex')]);
  return [rest, `${secret}\n`, `${secret}\r\n`, `"${secret}"`, ...decoded];
}

/** Digests of the right length that are no HMAC of the body under the secret. */
function otherDigests(secret: string, body: Buffer): Buffer[] {
  const sha256 = (...parts: (string | Buffer)[]) =>
    createHash('sha256')
      .update(Buffer.concat(parts.map(bytes)))
      .digest();
  return [sha256(body), sha256(secret, body), sha256(body, secret), createHmac('sha256', body).update(secret).digest()];
}

function bytes(text: string | Buffer): Buffer {
  return typeof text === 'string' ? Buffer.from(text) : text;
}
