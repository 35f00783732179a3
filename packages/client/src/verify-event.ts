import { bytesOf } from './bodies.ts';
import { VerificationError } from './errors.ts';
import { isEvent } from './successes.ts';
import type { DeliveredEvent } from './types.ts';

/** The headers of a request, as `fetch` or `node:http` represent them. */
export type EventHeaders = Pick<Headers, 'get'> | Readonly<Record<string, string | readonly string[] | undefined>>;

const HMAC = { name: 'HMAC', hash: 'SHA-256' };
const PREFIX = 'whsec_';
/** As Standard Webhooks 1.0 recommends; a recorded request cannot be replayed later. */
const TOLERANCE_SECONDS = 300;
const encoder = new TextEncoder();

/**
 * Verifies a request that is signed by Standard Webhooks 1.0, in constant time, and returns its event. The id and the
 * time are signed too, and the time may differ from this machine's clock by five minutes.
 *
 * @param body the exact bytes received, before parsing.
 * @param secret `whsec_…`; several during a rotation: a signature by any of them is valid.
 * @throws {VerificationError} when the request must be rejected; {TypeError} without a valid secret, and for a body that
 *   is no string and no bytes, or a string that is not well-formed.
 */
export async function verifyEvent(
  body: string | Uint8Array,
  headers: EventHeaders,
  secret: string | readonly string[],
): Promise<DeliveredEvent> {
  const keys = await Promise.all([secret].flat().map((one) => importSecret(one, 'verify')));
  if (keys.length === 0) throw new TypeError('The secret to verify with is missing.');
  if (typeof body !== 'string' && !(body instanceof Uint8Array)) {
    throw new TypeError('body must be the bytes or the text of the request, before parsing.');
  }
  const [id, timestamp, signature] = ['webhook-id', 'webhook-timestamp', 'webhook-signature'].map((name) => {
    const value = readHeader(headers, name);
    if (!value) throw new VerificationError(`The header ${name} is missing.`);
    return value;
  }) as [string, string, string];
  mustBeRecent(timestamp);
  const bytes = bytesOf(body);
  const signed = join(encoder.encode(`${id}.${timestamp}.`), bytes);
  const verdicts = await Promise.all(
    readSignatures(signature).flatMap((one) => keys.map((key) => crypto.subtle.verify('HMAC', key, one, signed))),
  );
  if (!verdicts.includes(true)) {
    throw new VerificationError('No signature matches: check the secret, and that the body is as it was received.');
  }
  const event = parse(bytes);
  if (!isEvent(event)) throw new VerificationError('The signature is valid, but the body is not an event.');
  return event;
}

/**
 * Signs a body as deliveries are signed, for tests of your receiver.
 *
 * @param body what your receiver gets; an event as JSON.
 * @param options.id by default a new one; `timestamp` is by default now.
 * @returns the headers to send with it.
 * @throws {TypeError} without a valid secret.
 */
export async function signEvent(
  body: string | Uint8Array,
  secret: string,
  {
    id = `evt_${crypto.randomUUID().replaceAll('-', '')}`,
    timestamp = new Date(),
  }: { id?: string; timestamp?: Date } = {},
): Promise<Record<'webhook-id' | 'webhook-timestamp' | 'webhook-signature', string>> {
  const seconds = String(Math.floor(timestamp.getTime() / 1000));
  const signed = join(encoder.encode(`${id}.${seconds}.`), bytesOf(body));
  const signature = await crypto.subtle.sign('HMAC', await importSecret(secret, 'sign'), signed);
  const base64 = btoa(String.fromCharCode(...new Uint8Array(signature)));
  return { 'webhook-id': id, 'webhook-timestamp': seconds, 'webhook-signature': `v1,${base64}` };
}

/** Several values are joined, so that a header that was added to the request makes the signature invalid. */
function readHeader(headers: EventHeaders, name: string): string {
  if (isHeaders(headers)) return headers.get(name) ?? '';
  const values = Object.entries(headers).filter(([key]) => key.toLowerCase() === name);
  return values
    .flatMap(([, value]) => value ?? [])
    .join(' ')
    .trim();
}

/** By its method, because there are several implementations of `Headers`. */
function isHeaders(headers: EventHeaders): headers is Pick<Headers, 'get'> {
  return typeof headers.get === 'function';
}

function mustBeRecent(timestamp: string): void {
  if (!/^\d{1,12}$/.test(timestamp)) throw new VerificationError('webhook-timestamp is not a Unix time in seconds.');
  const difference = Number(timestamp) - Math.floor(Date.now() / 1000);
  if (Math.abs(difference) <= TOLERANCE_SECONDS) return;
  const relation = difference < 0 ? 'before' : 'after';
  throw new VerificationError(
    `webhook-timestamp is ${Math.abs(difference)} seconds ${relation} the clock of this machine; at most ${TOLERANCE_SECONDS} are allowed.`,
  );
}

/** The signatures of version 1; others are ignored. */
function readSignatures(header: string): Uint8Array<ArrayBuffer>[] {
  return header.split(' ').flatMap((part) => {
    const base64 = /^v1,([A-Za-z0-9+/]{43}=)$/.exec(part)?.[1];
    return base64 === undefined ? [] : [bytesOfBase64(base64)];
  });
}

function importSecret(secret: string, use: 'sign' | 'verify') {
  const base64 = typeof secret === 'string' && secret.startsWith(PREFIX) ? secret.slice(PREFIX.length) : '';
  try {
    if (base64) return crypto.subtle.importKey('raw', bytesOfBase64(base64), HMAC, false, [use]);
  } catch {}
  throw new TypeError(`The secret must be "${PREFIX}" and base64.`);
}

/** @throws for a string that is not base64. */
function bytesOfBase64(base64: string): Uint8Array<ArrayBuffer> {
  return Uint8Array.from(atob(base64), (character) => character.charCodeAt(0));
}

function join(first: Uint8Array, second: Uint8Array): Uint8Array<ArrayBuffer> {
  const joined = new Uint8Array(first.length + second.length);
  joined.set(first);
  joined.set(second, first.length);
  return joined;
}

function parse(bytes: Uint8Array): unknown {
  try {
    return JSON.parse(new TextDecoder().decode(bytes));
  } catch {
    return null;
  }
}
