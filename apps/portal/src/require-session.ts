import { listMemberships } from '@orders/database/users/memberships.ts';
import { ownsSecondFactor } from '@orders/database/users/second-factors.ts';
import type { Role } from '@orders/database/users/users.ts';
import { Problem } from '@orders/domain/problems.ts';
import { isAPIError } from 'better-auth/api';
import { fromNodeHeaders } from 'better-auth/node';
import type { Request, Response } from 'express';
import { contextOf } from './context.ts';
import type { PortalDeps } from './deps.ts';
import type { Auth } from './sign-in/create-auth.ts';

type SessionDeps = Pick<PortalDeps, 'auth' | 'database'>;

/**
 * Loads the signed-in user by the session cookie. It queries Postgres on each request, so an ended session, or a membership that was removed,
 * stops at once. Use renews the session and its cookie; a request with `background=true`, which a hidden page sends by itself, is no use.
 *
 * @throws {Problem} `not_signed_in`, or `storage_unavailable`.
 */
export async function loadSession(
  { auth, database }: SessionDeps,
  request: Request,
  response: Response,
): Promise<void> {
  const found = await findSession(auth, request);
  forwardCookies(found.headers, response);
  if (!found.response) throw new Problem('not_signed_in');
  const { user, session } = found.response;
  if (!session.endsAt || session.endsAt.getTime() <= Date.now()) throw new Problem('not_signed_in');
  const hasProvedSecondFactor = session.secondFactor === true;
  contextOf(request).person = {
    userId: user.id,
    email: user.email,
    name: user.name,
    role: user.role as Role,
    memberships: user.role === 'operator' ? [] : await listMemberships(database, user.id),
    sessionId: session.id,
    authenticatedAt: session.authenticatedAt ?? null,
    hasProvedSecondFactor,
    // The library's `twoFactorEnabled` is stored after a passkey, in another transaction.
    hasUnprovedSecondFactor: !hasProvedSecondFactor && (await ownsSecondFactor(database, user.id)),
  };
}

async function findSession(auth: Auth, request: Request) {
  try {
    const query = { disableRefresh: request.query.background === 'true' };
    return await auth.api.getSession({ headers: fromNodeHeaders(request.headers), query, returnHeaders: true });
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
