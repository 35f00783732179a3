import { type Account, findAccount, lockAccount, setHoldResends } from '@orders/database/accounts/accounts.ts';
import { Router } from 'express';
import Joi from 'joi';
import { recordBy } from '../audit/record.ts';
import { accountIdOf } from '../context.ts';
import type { PortalDeps } from '../deps.ts';
import { transactFairly } from '../fair-limiter.ts';
import { bodyOf } from '../read-request.ts';

type Choice = Pick<Account, 'resends'>;

/** The account's setting for an order in review that is sent again with other content. */
export function resendsRoutes(deps: PortalDeps): Router {
  const { knex, runShortFairly } = deps;
  const transact = transactFairly(deps);
  const router = Router();

  router.get('/resends', async (request, response) => {
    const account = await runShortFairly(request, () => findAccount(knex, accountIdOf(request)));
    response.json(choiceOf(account));
  });

  router.put('/resends', async (request, response) => {
    const { resends } = bodyOf<Choice>(request, { resends: Joi.valid('ignore', 'hold').required() });
    const accountId = accountIdOf(request);
    await transact(request, async (trx) => {
      // Locked, so that the audit entry matches the change.
      const before = await lockAccount(trx, accountId);
      if (before?.resends === resends) return;
      await setHoldResends(trx, accountId, resends === 'hold');
      await recordBy(trx, request, {
        accountId,
        action: 'resends_hold_changed',
        subject: `account:${accountId}`,
        details: { resends },
      });
    });
    response.json({ resends });
  });

  return router;
}

function choiceOf(account: Account | null): Choice {
  return { resends: account?.resends ?? 'ignore' };
}
