import type { Connection } from '@orders/database/run.ts';
import { type AccountState, findAccountState } from '@orders/database/users/memberships.ts';
import { Problem } from '@orders/domain/problems.ts';
import { type Request, type Response, Router } from 'express';
import { contextOf, type Person, personOf } from './context.ts';
import type { PortalDeps } from './deps.ts';
import { permissionsIn, ROUTES, type RouteRule } from './permissions.ts';
import { idOf, MAX_SMALL_ID } from './read-request.ts';
import { loadSession } from './require-session.ts';
import { lacksSecondFactor } from './second-factor-policy.ts';

/** For how long a proof of identity counts as recent. */
const RECENT_MS = 10 * 60_000;

/**
 * Lets only requests pass that a rule allows, and sets the person and the account of the request. Express matches the rules as it matches
 * the routes, so both understand a path in the same way.
 *
 * @throws {Problem} `not_found` without a rule, and on operators' routes for others, so that these stay hidden; `not_signed_in`;
 * `account_not_found`; `second_factor_required`; `not_permitted`; `account_suspended`; `authentication_required`.
 */
export function enforcePermissions(deps: PortalDeps): Router {
  const router = Router();
  for (const rule of ROUTES) {
    router[rule.method](rule.path, async (request: Request, response: Response, next) => {
      await enforce(deps, rule, request, response);
      contextOf(request).closed.throwIfAborted();
      // Skips the rules that follow.
      next('router');
    });
  }
  router.use(() => {
    throw new Problem('not_found');
  });
  return router;
}

async function enforce(deps: PortalDeps, rule: RouteRule, request: Request, response: Response): Promise<void> {
  if (rule.who === 'public') return;
  await loadSession(deps, request, response);
  const person = personOf(request);
  const ofAccount = rule.path.startsWith('/accounts/:accountId');
  if (Array.isArray(rule.who) && !ofAccount && person.role !== 'operator') throw new Problem('not_found');
  const account = ofAccount ? await accountOf(deps.database, person, request.params.accountId) : null;
  if (!rule.withoutSecondFactor && lacksSecondFactor(person, account, deps.config))
    throw new Problem('second_factor_required');
  if (account) requirePermission(rule, person, account);
  if (rule.recent && !isRecent(person.authenticatedAt)) throw new Problem('authentication_required');
  const context = contextOf(request);
  context.isChange = rule.method !== 'get' && !rule.repeatable;
  if (!account) return;
  context.accountId = account.accountId;
  context.permissions = permissionsIn(person, account);
}

/** Another account gives the same response as one that does not exist. */
async function accountOf(database: Connection, person: Person, param: unknown): Promise<AccountState> {
  const id = idOf(param as string | undefined, MAX_SMALL_ID);
  const account =
    person.role === 'operator'
      ? id !== null && (await findAccountState(database, id))
      : person.memberships.find(({ accountId }) => accountId === id);
  if (!account) throw new Problem('account_not_found');
  return account;
}

function requirePermission({ who }: RouteRule, person: Person, account: AccountState): void {
  const isAllowed = (state: AccountState) =>
    permissionsIn(person, state).some((permission) => who.includes(permission));
  if (isAllowed(account)) return;
  if (account.isSuspended && isAllowed({ ...account, isSuspended: false }))
    throw new Problem('account_suspended', { detail: 'This account is suspended: its members can only read.' });
  throw new Problem('not_permitted');
}

function isRecent(authenticatedAt: Date | null): boolean {
  return authenticatedAt !== null && Date.now() - authenticatedAt.getTime() < RECENT_MS;
}
