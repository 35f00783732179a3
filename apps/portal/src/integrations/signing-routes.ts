import { findAccount, lockAccount, setSignedOnly } from '@orders/database/accounts/accounts.ts';
import { listSigning, rotateSigning, showSigning } from '@orders/database/accounts/signing-secrets.ts';
import { Problem } from '@orders/domain/problems.ts';
import { secretsKeysOf } from '@orders/runtime/config/settings.ts';
import { type Request, Router } from 'express';
import Joi from 'joi';
import type { Knex } from 'knex';
import { recordBy } from '../audit/record.ts';
import { NO_TRANSFORM } from '../compress-responses.ts';
import { accountIdOf } from '../context.ts';
import type { PortalDeps } from '../deps.ts';
import { transactFairly } from '../fair-limiter.ts';
import { bodyOf } from '../read-request.ts';
import { GRACE_MS, type Grace, graceSchema } from './grace.ts';

/** The signing secrets of an account: dates by default, texts on demand. Only operators enable signing. */
export function signingRoutes(deps: PortalDeps): Router {
  const { knex, config, runShort } = deps;
  const transact = transactFairly(deps);
  const router = Router();

  router.get('/signing', async (request, response) => {
    const accountId = accountIdOf(request);
    const [secrets, account] = await runShort(request, async () => [
      await listSigning(knex, accountId),
      await findAccount(knex, accountId),
    ]);
    response.json({ secrets, signed_only: account?.signed_only === true });
  });

  router.put('/signing/signed-only', async (request, response) => {
    const { signed_only } = bodyOf<{ signed_only: boolean }>(request, {
      signed_only: Joi.boolean().strict().required(),
    });
    const accountId = accountIdOf(request);
    await transact(request, async (trx) => {
      // Locked, so that signing is not disabled meanwhile, and the audit entry matches the change.
      const before = await lockAccount(trx, accountId);
      if (before?.signed_only === signed_only) return;
      if (signed_only && !before?.signing_enabled) throw new Problem('signing_unavailable');
      await setSignedOnly(trx, accountId, signed_only);
      await record(trx, request, 'signed_only_changed', { signed_only });
    });
    response.json({ signed_only });
  });

  // POST, because it writes an audit entry.
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
      const rotated = await rotateSigning(trx, secretsKeysOf(config), accountId, GRACE_MS[overlap]);
      if (!rotated) throw new Problem('signing_unavailable');
      await record(trx, request, 'signing_secret_rotated', { overlap });
      return listSigning(trx, accountId);
    });
    response.json({ secrets });
  });

  return router;
}

function record(trx: Knex, request: Request, action: string, details: Record<string, unknown> | null = null) {
  const accountId = accountIdOf(request);
  return recordBy(trx, request, { accountId, action, subject: `account:${accountId}`, details });
}
