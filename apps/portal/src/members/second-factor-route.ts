import { setSecondFactorRequired } from '@orders/database/users/second-factors.ts';
import { Router } from 'express';
import Joi from 'joi';
import { recordBy } from '../audit/record.ts';
import { accountIdOf } from '../context.ts';
import type { PortalDeps } from '../deps.ts';
import { bodyOf } from '../read-request.ts';

/** Whether the members of an account need a second factor. Applies to open sessions too. */
export function secondFactorRoute({ knex, runShortFairly }: PortalDeps): Router {
  const router = Router();

  router.put('/second-factor', async (request, response) => {
    const { required } = bodyOf<{ required: boolean }>(request, { required: Joi.boolean().strict().required() });
    const accountId = accountIdOf(request);
    await runShortFairly(request, () =>
      knex.transaction(async (trx) => {
        if (!(await setSecondFactorRequired(trx, accountId, required))) return;
        const [subject, details] = [`account:${accountId}`, { required }];
        await recordBy(trx, request, { accountId, action: 'second_factor_requirement_changed', subject, details });
      }),
    );
    response.json({ required });
  });

  return router;
}
