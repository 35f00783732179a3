import { resolveIdentity } from '@orders/database/users/identities.ts';
import { fromNodeHeaders } from 'better-auth/node';
import type { Request } from 'express';
import type { PortalDeps } from '../../deps.ts';
import { domainOf, type TokenIdentity } from './identity-of-token.ts';
import { RefusedIdentity } from './refusal.ts';

/**
 * Opens a session for the user of an identity.
 *
 * @param domains the e-mail domains for which the provider is trusted.
 * @returns headers with the session cookie.
 * @throws {RefusedIdentity} `unknown`, `bound_otherwise` or `domain`.
 */
export async function openIdentitySession(
  { auth, knex }: Pick<PortalDeps, 'auth' | 'knex'>,
  request: Request,
  identity: TokenIdentity,
  domains: readonly string[],
): Promise<Headers> {
  const { email, hasProvedSecondFactor, authenticatedAt } = identity;
  const user = await knex.transaction((trx) => resolveIdentity(trx, identity));
  if (typeof user === 'string') throw new RefusedIdentity(user, { email });
  // The address in the token may be another one by now, and the list of domains shorter.
  if (!domains.includes(domainOf(user.email))) throw new RefusedIdentity('domain', { email: user.email });
  const { headers } = await auth.api.openProvenSession({
    body: { userId: user.user_id, hasProvedSecondFactor, authenticatedAt },
    headers: fromNodeHeaders(request.headers),
    returnHeaders: true,
  });
  return headers;
}
