import { openTestAccount } from '@orders/database/accounts/test-accounts.ts';
import { Problem } from '@orders/domain/problems.ts';
import { secretsKeysOf } from '@orders/runtime/config/settings.ts';
import { Router } from 'express';
import { recordBy } from '../audit/record.ts';
import { accountIdOf } from '../context.ts';
import type { PortalDeps } from '../deps.ts';
import { transactFairly } from '../fair-limiter.ts';

/** Test mode: replies with the test account of an account, and makes it the first time. */
export function testAccountRoutes(deps: PortalDeps): Router {
  const transact = transactFairly(deps);
  const router = Router();

  router.post('/test-account', async (request, response) => {
    const accountId = accountIdOf(request);
    const opened = await transact(request, async (transaction) => {
      const found = await openTestAccount(transaction, accountId, secretsKeysOf(deps.config));
      if (!found) return null;
      const id = found.account.account_id;
      const subject = `account:${id}`;
      if (found.isNew) await recordBy(transaction, request, { accountId, action: 'test_account_created', subject });
      for (const action of found.equipped) await recordBy(transaction, request, { accountId: id, action, subject });
      return found;
    });
    if (!opened) throw new Problem('account_not_found');
    const { account_id, name, test_of } = opened.account;
    response.status(opened.isNew ? 201 : 200).json({ account_id, name, test_of });
  });

  return router;
}
