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
 * Finds who is signed in by the session's cookie, asking Postgres each time: a session that was ended is over with the next request. A
 * session that is used is renewed, and its cookie with it.
 *
 * @throws {Problem} `not_signed_in`, or `storage_unavailable`.
 */
export function requireSession(auth: Auth): RequestHandler {
  return async (request, response, next) => {
    await recognize(auth, request, response);
    contextOf(request).closed.throwIfAborted();
    next();
  };
}

/** As `requireSession`, for what a browser is pointed at: whoever is not signed in is sent to where one does. */
export function signInFirst(auth: Auth, signInPage: string): RequestHandler {
  return async (request, response, next) => {
    try {
      await recognize(auth, request, response);
    } catch (error) {
      if (!(error instanceof Problem && error.code === 'not_signed_in')) throw error;
      return response.redirect(303, signInPage);
    }
    next();
  };
}

async function recognize(auth: Auth, request: Request, response: Response): Promise<void> {
  const found = await findSession(auth, request);
  passCookies(found.headers, response);
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
    // The library hides why it could not read the session. All it does there is to ask Postgres; and a session that ended between being
    // found and being renewed is none.
    throw new Problem(error.statusCode >= 500 ? 'storage_unavailable' : 'not_signed_in');
  }
}

/** Gives the browser the cookies that the library made. */
export function passCookies(from: Headers, response: Response): void {
  for (const cookie of from.getSetCookie()) response.append('Set-Cookie', cookie);
}

/** Hides the operator's routes from everybody else, as if there were none. */
export const requireOperator: RequestHandler = (request, _response, next) => {
  if (personOf(request).role !== 'operator') throw new Problem('not_found');
  next();
};

/**
 * Takes the account from the path. An account holder has one; any other is exactly as unknown as one that never existed.
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
