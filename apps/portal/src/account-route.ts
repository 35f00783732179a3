import { findAccountState } from '@orders/database/users/memberships.ts';
import { Problem } from '@orders/domain/problems.ts';
import { Router } from 'express';
import { accountIdOf, personOf } from './context.ts';
import type { PortalDeps } from './deps.ts';
import { permissionsIn } from './permissions.ts';

/** The account, and what the person may do in it. */
export function accountRoute({ knex, runShortFairly }: PortalDeps): Router {
  const router = Router();

  router.get('/', async (request, response) => {
    const account = await runShortFairly(request, () => findAccountState(knex, accountIdOf(request)));
    if (!account) throw new Problem('account_not_found');
    const { accountId, name, isSuspended, isSecondFactorRequired } = account;
    const permissions = permissionsIn(personOf(request), account);
    response.json({
      account_id: accountId,
      name,
      suspended: isSuspended,
      second_factor_required: isSecondFactorRequired,
      permissions,
    });
  });

  return router;
}
