import { findAccount } from '@orders/database';
import { Problem } from '@orders/domain';
import { Router } from 'express';
import { accountIdOf } from './context.ts';
import type { PortalDeps } from './deps.ts';

/** Names the account, for an operator who looks at its pages. */
export function accountRoute({ knex, runShortFairly }: PortalDeps): Router {
  const router = Router();

  router.get('/', async (request, response) => {
    const account = await runShortFairly(request, () => findAccount(knex, accountIdOf(request)));
    if (!account) throw new Problem('account_not_found');
    response.json({ account_id: account.account_id, name: account.name });
  });

  return router;
}
