import { parseCookies } from 'better-auth/cookies';
import type { CookieOptions, Request, Response } from 'express';
import Joi from 'joi';
import { randomNonce, randomPKCECodeVerifier, randomState } from 'openid-client';

/** A sign-in that the browser continues at the provider. The values are random, and the browser alone keeps them. */
export interface PendingSignIn {
  state: string;
  nonce: string;
  verifier: string;
  /** The page to open afterwards: a path of the portal. */
  path: string;
}

/** How long a person may take at the provider, in milliseconds. */
export const PENDING_MS = 10 * 60_000;

const random = Joi.string().min(20).max(200).required();
/** No page of the portal has a longer path. */
export const MAX_PATH = 500;
const path = Joi.string().max(MAX_PATH).required();
const schema = Joi.object({ state: random, nonce: random, verifier: random, path });

/** The cookie that binds a sign-in to the browser that started it. */
export interface PendingCookie {
  create(path: string): PendingSignIn;
  set(response: Response, pending: PendingSignIn): void;
  /** Reads and removes it; null when the browser has none that is valid. */
  take(request: Request, response: Response): PendingSignIn | null;
}

/** Browsers send `Lax` cookies with the redirect from the provider. Over https no other host can set a `__Host-` cookie. */
export function createPendingCookie(portalUrl: string): PendingCookie {
  const secure = portalUrl.startsWith('https:');
  const name = secure ? '__Host-orders.oidc' : 'orders.oidc';
  const options: CookieOptions = { httpOnly: true, sameSite: 'lax', secure, path: '/' };
  return {
    create: (path) => ({
      state: randomState(),
      nonce: randomNonce(),
      verifier: randomPKCECodeVerifier(),
      path: pathIn(portalUrl, path),
    }),
    set(response, pending) {
      const value = Buffer.from(JSON.stringify(pending)).toString('base64url');
      response.cookie(name, value, { ...options, maxAge: PENDING_MS });
    },
    take(request, response) {
      const value = parseCookies(request.headers.cookie ?? '').get(name);
      if (value === undefined) return null;
      response.clearCookie(name, options);
      const pending = read(value);
      return pending && { ...pending, path: pathIn(portalUrl, pending.path) };
    },
  };
}

function read(value: string): PendingSignIn | null {
  try {
    const { value: pending, error } = schema.validate(JSON.parse(Buffer.from(value, 'base64url').toString()));
    return error ? null : pending;
  } catch {
    return null;
  }
}

/** The path without its query, or `/` if it is too long or a browser would look for it on another host. */
function pathIn(portalUrl: string, path: string): string {
  const url = URL.parse(path, portalUrl);
  const isOfPortal = url?.origin === new URL(portalUrl).origin && path.startsWith('/');
  return isOfPortal && url.pathname.length <= MAX_PATH ? url.pathname : '/';
}
