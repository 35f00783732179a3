import { listSigning, rotateSigning, showSigning } from '@orders/database';
import { Problem } from '@orders/domain';
import { secretsKeysOf } from '@orders/runtime';
import { type Request, Router } from 'express';
import type { Knex } from 'knex';
import { recordBy } from '../audit/record.ts';
import { NO_TRANSFORM } from '../compress-replies.ts';
import { accountIdOf } from '../context.ts';
import type { PortalDeps } from '../deps.ts';
import { transactFairly } from '../fair-limiter.ts';
import { bodyOf } from '../read-request.ts';
import { GRACE_MS, type Grace, graceSchema } from './grace.ts';

/** The signing secrets of an account: their dates to look at, their texts on demand. Enabling is the operator's. */
export function signingRoutes(deps: PortalDeps): Router {
  const { knex, config, runShortFairly } = deps;
  const transact = transactFairly(deps);
  const router = Router();

  router.get('/signing', async (request, response) => {
    const secrets = await runShortFairly(request, () => listSigning(knex, accountIdOf(request)));
    response.json({ secrets });
  });

  // By POST, as it is put on record.
  router.post('/signing/reveal', async (request, response) => {
    const secrets = await transact(request, async (trx) => {
      const shown = await showSigning(trx, secretsKeysOf(config), accountIdOf(request));
      if (shown.length === 0) throw new Problem('signing_unavailable');
      await record(trx, request, 'signing_secret_revealed');
      return shown;
    });
    response.set(NO_TRANSFORM).json({ secrets });
  });

  router.post('/signing/rotate', async (request, response) => {
    const { overlap } = bodyOf<{ overlap: Grace }>(request, { overlap: graceSchema });
    const secrets = await transact(request, async (trx) => {
      const accountId = accountIdOf(request);
      const made = await rotateSigning(trx, secretsKeysOf(config), accountId, GRACE_MS[overlap]);
      if (!made) throw new Problem('signing_unavailable');
      await record(trx, request, 'signing_secret_rotated', { overlap });
      return listSigning(trx, accountId);
    });
    response.json({ secrets });
  });

  return router;
}

function record(trx: Knex, request: Request, action: string, details: { overlap: Grace } | null = null) {
  const accountId = accountIdOf(request);
  return recordBy(trx, request, { accountId, action, subject: `account:${accountId}`, details });
}
