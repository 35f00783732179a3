import { type Connection, execute, run } from '@orders/database/run.ts';
import { Router } from 'express';
import Joi from 'joi';
import { recordBy } from '../audit/record.ts';
import { accountIdOf } from '../context.ts';
import type { PortalDeps } from '../deps.ts';
import { transactFairly } from '../fair-limiter.ts';
import { bodyOf } from '../read-request.ts';

/** A week, as in the check of the column. */
const MAX_MINUTES = 10_080;

const READ = {
  name: 'read-review-target',
  text: 'select review_target_minutes from accounts where account_id = $1::int',
};

/** Within how many minutes of its receipt an order of the account is to be decided; null for no target. */
export async function readReviewTarget(connection: Connection, accountId: number): Promise<number | null> {
  const [account] = await run<{ review_target_minutes: number | null }>(connection, READ, [accountId]);
  return account?.review_target_minutes ?? null;
}

/** Sets the target. @returns false when it was so before. */
async function setReviewTarget(connection: Connection, accountId: number, minutes: number | null): Promise<boolean> {
  const updated = await execute(
    connection,
    `update accounts set review_target_minutes = $2::int
     where account_id = $1 and review_target_minutes is distinct from $2::int`,
    [accountId, minutes],
  );
  return updated > 0;
}

/** The account's target for the time from the receipt of an order to its decision. */
export function reviewTargetRoutes(deps: PortalDeps): Router {
  const { database, runShort } = deps;
  const transact = transactFairly(deps);
  const router = Router();

  router.get('/review-target', async (request, response) => {
    const minutes = await runShort(request, () => readReviewTarget(database, accountIdOf(request)));
    response.json({ minutes });
  });

  router.put('/review-target', async (request, response) => {
    const { minutes } = bodyOf<{ minutes: number | null }>(request, {
      minutes: Joi.number().strict().integer().min(1).max(MAX_MINUTES).allow(null).required(),
    });
    const accountId = accountIdOf(request);
    await transact(request, async (transaction) => {
      if (!(await setReviewTarget(transaction, accountId, minutes))) return;
      await recordBy(transaction, request, {
        accountId,
        action: 'review_target_changed',
        subject: `account:${accountId}`,
        details: { review_target_minutes: minutes ?? 'none' },
      });
    });
    response.json({ minutes });
  });

  return router;
}
