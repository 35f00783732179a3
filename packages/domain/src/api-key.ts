import { hash, randomBytes } from 'node:crypto';
import { crc32 } from 'node:zlib';

/** What an API key may do: send orders, cancel them, and read their outcomes. */
export const KEY_SCOPES = ['send', 'cancel', 'read'] as const;

export type KeyScope = (typeof KEY_SCOPES)[number];

const BASE62 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const API_KEY = /^oik_(?:test_)?(?:[1-9][0-9]{0,3}_)?[0-9A-Za-z]{49}$/;
const SOURCE_ID = /^src_(?:[1-9][0-9]{0,3}_)?[0-9A-Za-z]{43}$/;
const CHECKSUM_LENGTH = 6;

/** 43 base62 characters: 256 bits of randomness, without bias. */
function randomText(): string {
  let text = '';
  while (text.length < 43) {
    // 248 is the largest multiple of 62 in a byte; higher values would favour the first characters.
    for (const byte of randomBytes(64)) if (byte < 248 && text.length < 43) text += BASE62[byte % 62];
  }
  return text;
}

function checksum(text: string): string {
  let remainder = crc32(text);
  let digits = '';
  for (let position = 0; position < CHECKSUM_LENGTH; position++) {
    digits = BASE62[remainder % 62] + digits;
    remainder = Math.floor(remainder / 62);
  }
  return digits;
}

/**
 * A new API key (contract, section 6): `oik_`, in test mode `oik_test_`, the number of the installation as `7_` unless it is 0, 43 random
 * base62 characters and 6 of a checksum.
 */
export function createApiKey({ isTest = false, installation = 0 } = {}): string {
  const body = `oik_${isTest ? 'test_' : ''}${numberText(installation)}${randomText()}`;
  return body + checksum(body);
}

/** Checks the form and checksum of a key, so that a mistyped key costs no look-up. */
export function isApiKey(text: string): boolean {
  return API_KEY.test(text) && text.endsWith(checksum(text.slice(0, -CHECKSUM_LENGTH)));
}

/** The stored hash of a key: SHA-256. Random keys need neither a salt nor a slow hash. */
export function hashApiKey(key: string): Buffer {
  return hash('sha256', key, 'buffer');
}

/** A new signing secret; its UTF-8 bytes, prefix included, are the HMAC key. */
export function createSigningSecret(): string {
  return `oss_${randomText()}`;
}

/** A new id for the URL of a source: `src_`, the number of the installation as in a key, and 43 random base62 characters. */
export function createSourceId(installation = 0): string {
  return `src_${numberText(installation)}${randomText()}`;
}

/** Whether a text has the form of a source id, so that another one costs no look-up. */
export function isSourceId(text: string): boolean {
  return SOURCE_ID.test(text);
}

const numberText = (installation: number) => (installation === 0 ? '' : `${installation}_`);

/** The installation that made a key or the id of a source. Anybody can write any number, so it proves nothing. */
export function installationOf(credential: string): number {
  const [, number = 0] = /^(?:oik_(?:test_)?|src_)(\d+)_/.exec(credential) ?? [];
  return Number(number);
}
