import { hash, randomBytes } from 'node:crypto';
import { crc32 } from 'node:zlib';

const BASE62 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const API_KEY = /^oik_[0-9A-Za-z]{49}$/;
const CHECKSUM_LENGTH = 6;

/** 43 base62 characters: 256 bits of randomness, without bias. */
function randomText(): string {
  let text = '';
  while (text.length < 43) {
    // 248 is the largest multiple of 62 in a byte; what lies above would favour the first characters.
    for (const byte of randomBytes(64)) if (byte < 248 && text.length < 43) text += BASE62[byte % 62];
  }
  return text;
}

function checksum(text: string): string {
  let rest = crc32(text);
  let digits = '';
  for (let place = 0; place < CHECKSUM_LENGTH; place++) {
    digits = BASE62[rest % 62] + digits;
    rest = Math.floor(rest / 62);
  }
  return digits;
}

/** A new API key: `oik_`, 43 base62 characters of randomness, 6 of checksum (contract, section 6). */
export function createApiKey(): string {
  const body = `oik_${randomText()}`;
  return body + checksum(body);
}

/** Whether a text has the form of a key and its checksum is right, so that a mistyped key costs no look-up. */
export function isApiKey(text: string): boolean {
  return API_KEY.test(text) && text.endsWith(checksum(text.slice(0, -CHECKSUM_LENGTH)));
}

/** What is stored of a key: its SHA-256. The key is random, so neither salt nor a slow hash would add anything. */
export function hashApiKey(key: string): Buffer {
  return hash('sha256', key, 'buffer');
}

/** A new signing secret; its UTF-8 bytes, prefix included, are the HMAC key. */
export function createSigningSecret(): string {
  return `oss_${randomText()}`;
}
