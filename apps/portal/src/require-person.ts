import { findAccount } from '@orders/database';
import { Problem } from '@orders/domain';
import { fromNodeHeaders } from 'better-auth/node';
import type { RequestHandler } from 'express';
import type { Knex } from 'knex';
import { contextOf, personOf } from './context.ts';
import type { Auth } from './sign-in/create-auth.ts';

/**
 * Finds who is signed in by the session's cookie.
 *
 * @throws {Problem} `not_signed_in`.
 */
export function requirePerson(auth: Auth): RequestHandler {
  return async (request, _response, next) => {
    const found = await auth.api.getSession({ headers: fromNodeHeaders(request.headers) });
    if (!found) throw new Problem('not_signed_in');
    const { user, session } = found;
    contextOf(request).person = {
      userId: user.id,
      email: user.email,
      name: user.name,
      role: user.role as 'operator' | 'account_holder',
      accountId: user.accountId ?? null,
      sessionId: session.id,
    };
    next();
  };
}

/** Hides the operator's routes from everybody else, as if there were none. */
export const requireOperator: RequestHandler = (request, _response, next) => {
  if (personOf(request).role !== 'operator') throw new Problem('not_found');
  next();
};

const ACCOUNT_ID = /^[1-9]\d{0,8}$/;

/**
 * Takes the account from the path. An account holder has one; any other is exactly as unknown as one that never existed.
 *
 * @throws {Problem} `account_not_found`.
 */
export function requireAccount(knex: Knex): RequestHandler<{ accountId: string }> {
  return async (request, _response, next) => {
    const { accountId: text } = request.params;
    const id = ACCOUNT_ID.test(text) ? Number(text) : null;
    const { role, accountId } = personOf(request);
    const mayKnow = id !== null && (role === 'operator' ? (await findAccount(knex, id)) !== null : id === accountId);
    if (!mayKnow) throw new Problem('account_not_found');
    contextOf(request).accountId = id;
    next();
  };
}

/** A number such as an order's id from the path, or null when it is none. */
export function idOf(text: string | string[] | undefined): number | null {
  return typeof text === 'string' && /^[1-9]\d{0,14}$/.test(text) ? Number(text) : null;
}
