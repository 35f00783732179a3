import { createHash, createHmac, timingSafeEqual } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import type { Diagnosis } from '../rejections.ts';
import { claimedDigest } from '../signature.ts';
import { reserializations } from './reserialize.ts';

/** A rejected webhook and the data to compare it with. */
export interface WrongSignature {
  /** `x-service-signature` as sent. */
  header: string;
  body: Buffer;
  /** Newest first, including expired ones. */
  secrets: readonly { secret: string; isLive: boolean }[];
  apiKey: string;
  /** From the headers of the request. */
  values: SignedValues;
}

/** Max bytes hashed to find the signed text, first with a timestamp and then serialized otherwise; each takes a few milliseconds. */
const SEARCH_BYTES = 500_000;

const HEX = /^[0-9a-f]+$/i;
const SHA256_HEX = 64;
const SHA256_BYTES = 32;
/** Digest lengths in bytes of SHA-1, SHA-384 and SHA-512. */
const OTHER_DIGESTS = [20, 48, 64];
/** Prefixes that other services put before a signature, and quotes. */
const DECORATION = /^["']?(?:(?:hmac[-_]?)?sha-?\d+|hmac|v\d+|sig(?:nature)?|hex|base64)\s*[=:,\s]\s*|^["']|["']$/gi;
/** What a handler without access to the body signs instead. */
const NO_BODY = ['', '{}', 'undefined', 'null', '[object Object]'];

/** The most likely cause of an invalid signature. Comparisons take constant time. */
export function diagnoseSignature(wrong: WrongSignature): Diagnosis<'invalid_signature'> {
  const form = diagnoseForm(wrong.header);
  if (form === null) return diagnoseDigest(wrong) ?? 'another_secret';
  // Now, as the timestamp of a header like t=…,v1=… is lost once its form is corrected.
  return signsTimestamp(wrong) ? 'timestamp_signed' : form;
}

/** Diagnoses the format of the signature; null if it is correct. */
function diagnoseForm(header: string): Diagnosis<'invalid_signature'> | null {
  if (claimedDigest(header)) return null;
  const bare = header.replace(DECORATION, '').replace(DECORATION, '');
  if (HEX.test(bare) && bare.length === SHA256_HEX) return 'malformed_header';
  if (HEX.test(bare) && OTHER_DIGESTS.includes(bare.length / 2)) return 'wrong_algorithm';
  if (!/^[\w+/-]+={0,2}$/.test(bare)) return 'malformed_header';
  const decoded = Buffer.from(bare, 'base64');
  // Base64 of the digest or of its hex form.
  if (decoded.length === SHA256_BYTES || HEX.test(decoded.toString('latin1'))) return 'base64_instead_of_hex';
  return OTHER_DIGESTS.includes(decoded.length) ? 'wrong_algorithm' : 'malformed_header';
}

/** Diagnoses what a well-formed signature was computed from instead of body and secret; null if unknown. */
function diagnoseDigest(wrong: WrongSignature): Diagnosis<'invalid_signature'> | null {
  const { header, body, secrets, apiKey } = wrong;
  const live = liveSecrets(wrong);
  const old = secrets.filter(({ isLive }) => !isLive).map(({ secret }) => secret);
  const claimed = Buffer.from(header.slice(-SHA256_HEX), 'hex');
  const is = (digest: Buffer) => timingSafeEqual(digest, claimed);
  const anySigns = (keys: readonly (string | Buffer)[], texts: readonly (string | Buffer)[]) =>
    keys.some((key) => texts.some((text) => is(hmac(key, [text]))));

  if (anySigns(old, [body])) return 'previous_secret';
  if (anySigns(live, withOtherLineEndings(body))) return 'trailing_newline';
  if (anySigns(live, NO_BODY)) return 'signed_empty_body';
  if (anySigns(live.flatMap(mistakenKeys), [body])) return 'secret_decoded';
  if (anySigns([apiKey, apiKey.replace(/^oik_(test_)?(\d+_)?/, '')], [body])) return 'signed_with_api_key';
  if (live.some((secret) => otherDigests(secret, body).some(is))) return 'wrong_algorithm';
  if (signsTimestamp(wrong)) return 'timestamp_signed';
  for (const { text, isSorted } of affordable(reserializations(body), live.length, ({ text }) => text.length)) {
    if (anySigns(live, [text])) return isSorted ? 'members_sorted' : 'body_reserialized';
  }
  return null;
}

/** Whether a digest in the header was computed from the body and a timestamp of the request. */
function signsTimestamp(wrong: WrongSignature): boolean {
  const [hex] = /\b[0-9a-f]{64}\b/i.exec(wrong.header) ?? [];
  if (!hex) return false;
  const claimed = Buffer.from(hex, 'hex');
  const live = liveSecrets(wrong);
  const texts = affordable(timestampedTexts(wrong.body, wrong.values), live.length, () => wrong.body.length);
  for (const { parts } of texts) {
    if (live.some((secret) => timingSafeEqual(hmac(secret, parts), claimed))) return true;
  }
  return false;
}

/** Yields candidates until hashing them with each of `keys` keys would exceed the limit. */
function* affordable<T>(candidates: Iterable<T>, keys: number, lengthOf: (candidate: T) => number): Generator<T> {
  let left = SEARCH_BYTES;
  for (const candidate of candidates) {
    left -= lengthOf(candidate) * keys;
    if (left < 0) return;
    yield candidate;
  }
}

function liveSecrets({ secrets }: WrongSignature): string[] {
  return secrets.filter(({ isLive }) => isLive).map(({ secret }) => secret);
}

function hmac(key: string | Buffer, parts: readonly (string | Buffer)[]): Buffer {
  const hash = createHmac('sha256', key);
  for (const part of parts) hash.update(part);
  return hash.digest();
}

/** The body with a trailing line break added or removed. */
function withOtherLineEndings(body: Buffer): (string | Buffer)[] {
  const text = body.toString('latin1');
  const shorter = [text.replace(/\r?\n$/, ''), text.trimEnd()].filter((variant) => variant.length < text.length);
  return [`${text}\n`, `${text}\r\n`, ...shorter].map((variant) => Buffer.from(variant, 'latin1'));
}

/** The secret as wrongly decoded, cut or read with its line break. */
function mistakenKeys(secret: string): (string | Buffer)[] {
  const rest = secret.replace(/^oss_/, '');
  const decoded = [secret, rest].flatMap((text) => [Buffer.from(text, 'base64'), Buffer.from(text, 'hex')]);
  return [rest, `${secret}\n`, `${secret}\r\n`, `"${secret}"`, ...decoded];
}

/** Digests of the right length that are not the HMAC of the body. */
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

/** Values of a request's headers that other services sign together with the body. */
interface SignedValues {
  timestamps: readonly string[];
  ids: readonly string[];
}

/** Max timestamps and max ids; each is tried in several forms. */
const MAX_VALUES = 4;

/** Unix time in seconds (also with a fraction), ms, µs or ns; ISO 8601; or an HTTP date. */
const TIMESTAMP =
  /^(?:\d{10}(?:\.\d{1,9}|(?:\d{3}){1,3})?|\d{4}-\d\d-\d\dT[\d:.]{5,18}(?:Z|[+-]\d\d:?\d\d)|[A-Z][a-z]{2}, \d\d [A-Z][a-z]{2} \d{4} [\d:]{8} GMT)$/;
/** As in `t=1700000000,v1=…`. */
const TIMESTAMP_OF_SIGNATURE = /(?:^|[,;\s])ts?=(\d{10,19})(?=[,;\s]|$)/;
const ID = /^[\x21-\x7e]{1,128}$/;

/** The timestamps and ids in the headers of a request: at most four each, and short. */
export function findSignedValues(headers: IncomingHttpHeaders): SignedValues {
  const timestamps = new Set<string>();
  const ids = new Set<string>();
  for (const [name, value] of Object.entries(headers)) {
    if (typeof value !== 'string') continue;
    const timestamp = TIMESTAMP.test(value) ? value : isSignature(name) && TIMESTAMP_OF_SIGNATURE.exec(value)?.[1];
    if (timestamp) timestamps.add(timestamp);
    else if (name.endsWith('id') && ID.test(value)) ids.add(value);
  }
  return { timestamps: [...timestamps].slice(0, MAX_VALUES), ids: [...ids].slice(0, MAX_VALUES) };
}

/** Whether a header is named like a signature, as other services name theirs. */
export function isSignature(name: string): boolean {
  return /signature|hmac/.test(name);
}

/** Yields body and timestamp as other services sign them, likeliest first, in parts to be joined. */
export function* timestampedTexts(
  body: Buffer,
  { timestamps, ids }: SignedValues,
): Generator<{ parts: (string | Buffer)[] }> {
  for (const time of timestamps) {
    // Stripe and Slack; and Standard Webhooks, which also signs an id.
    const prefixes = [`${time}.`, `v0:${time}:`, ...ids.map((id) => `${id}.${time}.`)];
    for (const prefix of [...prefixes, `${time}:`, time, `${time}\n`, `v1:${time}:`]) yield { parts: [prefix, body] };
    for (const suffix of [time, `.${time}`]) yield { parts: [body, suffix] };
  }
}
