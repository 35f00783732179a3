import { findAccount, type Role } from '@orders/database';
import { Problem } from '@orders/domain';
import { isAPIError } from 'better-auth/api';
import { fromNodeHeaders } from 'better-auth/node';
import type { Request, RequestHandler, Response } from 'express';
import type { Knex } from 'knex';
import { contextOf, personOf } from './context.ts';
import { idOf, MAX_SMALL_ID } from './read-request.ts';
import type { Auth } from './sign-in/create-auth.ts';

/**
 * Loads the signed-in user by the session cookie. It queries Postgres on each request, so an ended session stops at once. Use renews the
 * session and its cookie.
 *
 * @throws {Problem} `not_signed_in`, or `storage_unavailable`.
 */
export function requireSession(auth: Auth): RequestHandler {
  return async (request, response, next) => {
    await loadSession(auth, request, response);
    contextOf(request).closed.throwIfAborted();
    next();
  };
}

/** As `requireSession`, for pages: redirects to the sign-in page without a session. */
export function redirectToSignIn(auth: Auth, signInPage: string): RequestHandler {
  return async (request, response, next) => {
    try {
      await loadSession(auth, request, response);
    } catch (error) {
      if (!(error instanceof Problem && error.code === 'not_signed_in')) throw error;
      return response.redirect(303, signInPage);
    }
    next();
  };
}

/** @throws {Problem} as `requireSession`. */
export async function loadSession(auth: Auth, request: Request, response: Response): Promise<void> {
  const found = await findSession(auth, request);
  forwardCookies(found.headers, response);
  if (!found.response) throw new Problem('not_signed_in');
  const { user, session } = found.response;
  contextOf(request).person = {
    userId: user.id,
    email: user.email,
    name: user.name,
    role: user.role as Role,
    accountId: user.accountId ?? null,
    sessionId: session.id,
  };
}

async function findSession(auth: Auth, request: Request) {
  try {
    return await auth.api.getSession({ headers: fromNodeHeaders(request.headers), returnHeaders: true });
  } catch (error) {
    if (!isAPIError(error)) throw error;
    // The library hides the cause. All it does here is query Postgres, so a 5xx means that storage is unavailable; other errors mean that the
    // session ended between being found and being renewed.
    throw new Problem(error.statusCode >= 500 ? 'storage_unavailable' : 'not_signed_in');
  }
}

/** Copies the library's cookies to the response. */
export function forwardCookies(from: Headers, response: Response): void {
  for (const cookie of from.getSetCookie()) response.append('Set-Cookie', cookie);
}

/** Answers `not_found` to everybody else, so that operators' routes stay hidden. */
export const requireOperator: RequestHandler = (request, _response, next) => {
  if (personOf(request).role !== 'operator') throw new Problem('not_found');
  next();
};

/**
 * Reads the account from the path and checks access. Another holder's account gives the same response as one that does not exist.
 *
 * @throws {Problem} `account_not_found`.
 */
export function requireAccount(knex: Knex): RequestHandler<{ accountId: string }> {
  return async (request, _response, next) => {
    const id = idOf(request.params.accountId, MAX_SMALL_ID);
    const { role, accountId } = personOf(request);
    const mayKnow = id !== null && (role === 'operator' ? (await findAccount(knex, id)) !== null : id === accountId);
    if (!mayKnow) throw new Problem('account_not_found');
    contextOf(request).accountId = id;
    next();
  };
}
