import { createHmac, hkdfSync, randomBytes, timingSafeEqual } from 'node:crypto';
import type { Connection } from '@orders/database/run.ts';
import { findCredential } from '@orders/database/users/passwords.ts';
import { parseCookies } from 'better-auth/cookies';
import type { Request, Response } from 'express';
import { digestOf } from './attempt-bounds.ts';

const LIFETIME_MS = 90 * 86_400_000;
/** A browser has one cookie for each user who signed in. More are ignored, so that a request causes few computations. */
const MAX_COOKIES = 20;

/** Whose sign-in: an e-mail address in lower case, or a user's id. */
export type UserKey = { email: string } | { userId: string };

/**
 * Recognizes browsers in which a user signed in before ("device cookies" of OWASP). The cookie is signed, holds the ids of the user, of the
 * device and of the password, and lasts 90 days from the last sign-in. A new password makes it invalid. It signs nobody in: it exempts
 * attempts for this user from the bounds that strangers can exhaust.
 */
export interface KnownDevices {
  /** @returns the device if this user signed in from it before, otherwise null. */
  find(cookies: string | undefined, user: UserKey): Promise<{ deviceId: string; userId: string } | null>;
  isKnownDevice(request: Request, userId: string): Promise<boolean>;
  /** Sets the cookie; call it when the user has signed in. */
  rememberDevice(response: Response, userId: string): Promise<void>;
}

/**
 * @param options.secretsKey 32 bytes; the key that signs the cookies is derived from it.
 * @param options.portalUrl with https, the cookies are `Secure` and bound to this host.
 */
export function createKnownDevices({
  database,
  secretsKey,
  portalUrl,
}: {
  database: Connection;
  secretsKey: Buffer;
  portalUrl: string;
}): KnownDevices {
  const key = Buffer.from(hkdfSync('sha256', secretsKey, '', 'known devices', 32));
  const isHttps = portalUrl.startsWith('https:');
  const prefix = `${isHttps ? '__Host-' : ''}orders.device_`;
  const signatureOf = (text: string) => createHmac('sha256', key).update(text).digest();

  /** The parts of a cookie whose signature and age are valid; `find` compares the password. */
  function read(cookie: string) {
    const end = cookie.lastIndexOf('.');
    const signature = Buffer.from(cookie.slice(end + 1), 'base64url');
    const expected = signatureOf(cookie.slice(0, end));
    if (signature.length !== expected.length || !timingSafeEqual(signature, expected)) return null;
    const [deviceId = '', userId = '', credentialId = '', at] = cookie.slice(0, end).split('.');
    return Number(at) > Date.now() - LIFETIME_MS ? { deviceId, userId, credentialId } : null;
  }

  async function find(cookies: string | undefined, user: UserKey) {
    const own = [...parseCookies(cookies ?? '')].filter(([name]) => name.startsWith(prefix)).slice(0, MAX_COOKIES);
    const devices = own.map(([, cookie]) => read(cookie)).filter((device) => device !== null);
    // Without a valid cookie, an attempt costs no query.
    if (devices.length === 0) return null;
    const credential = await findCredential(database, user);
    const device = devices.find(
      ({ userId, credentialId }) => userId === credential?.userId && credentialId === credential.credentialId,
    );
    return device ?? null;
  }

  return {
    find,
    isKnownDevice: async ({ headers }, userId) => (await find(headers.cookie, { userId })) !== null,
    async rememberDevice(response, userId) {
      const credential = await findCredential(database, { userId });
      if (!credential) return;
      const deviceId = randomBytes(12).toString('base64url');
      const text = [deviceId, userId, credential.credentialId, Date.now()].join('.');
      const cookie = `${text}.${signatureOf(text).toString('base64url')}`;
      const options = { maxAge: LIFETIME_MS, httpOnly: true, sameSite: 'lax', secure: isHttps, path: '/' } as const;
      response.cookie(`${prefix}${digestOf(userId).slice(0, 8)}`, cookie, options);
    },
  };
}
