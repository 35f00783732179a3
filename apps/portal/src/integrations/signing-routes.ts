import { findAccount, lockAccount, setSignedOnly } from '@orders/database/accounts/accounts.ts';
import { listSigning, rotateSigning, showSigning } from '@orders/database/accounts/signing-secrets.ts';
import type { Connection } from '@orders/database/run.ts';
import { Problem } from '@orders/domain/problems.ts';
import { secretsKeysOf } from '@orders/runtime/config/settings.ts';
import { type Request, Router } from 'express';
import Joi from 'joi';
import { recordBy } from '../audit/record.ts';
import { NO_TRANSFORM } from '../compress-responses.ts';
import { accountIdOf } from '../context.ts';
import type { PortalDeps } from '../deps.ts';
import { transactFairly } from '../fair-limiter.ts';
import { bodyOf } from '../read-request.ts';
import { GRACE_MS, type Grace, graceSchema } from './grace.ts';

/** The signing secrets of an account: dates by default, texts on demand. Only operators enable signing. */
export function signingRoutes(deps: PortalDeps): Router {
  const { database, config, runShort } = deps;
  const transact = transactFairly(deps);
  const router = Router();

  router.get('/signing', async (request, response) => {
    const accountId = accountIdOf(request);
    const [secrets, account] = await runShort(request, async () => [
      await listSigning(database, accountId),
      await findAccount(database, accountId),
    ]);
    response.json({ secrets, signed_only: account?.signed_only === true });
  });

  router.put('/signing/signed-only', async (request, response) => {
    const { signed_only } = bodyOf<{ signed_only: boolean }>(request, {
      signed_only: Joi.boolean().strict().required(),
    });
    const accountId = accountIdOf(request);
    await transact(request, async (transaction) => {
      // Locked, so that signing is not disabled meanwhile, and the audit entry matches the change.
      const before = await lockAccount(transaction, accountId);
      if (before?.signed_only === signed_only) return;
      if (signed_only && !before?.signing_enabled) throw new Problem('signing_unavailable');
      await setSignedOnly(transaction, accountId, signed_only);
      await record(transaction, request, 'signed_only_changed', { signed_only });
    });
    response.json({ signed_only });
  });

  // POST, because it writes an audit entry.
  router.post('/signing/reveal', async (request, response) => {
    const secrets = await transact(request, async (transaction) => {
      const shown = await showSigning(transaction, secretsKeysOf(config), accountIdOf(request));
      if (shown.length === 0) throw new Problem('signing_unavailable');
      await record(transaction, request, 'signing_secret_revealed');
      return shown;
    });
    response.set(NO_TRANSFORM).json({ secrets });
  });

  router.post('/signing/rotate', async (request, response) => {
    const { overlap } = bodyOf<{ overlap: Grace }>(request, { overlap: graceSchema });
    const secrets = await transact(request, async (transaction) => {
      const accountId = accountIdOf(request);
      const rotated = await rotateSigning(transaction, secretsKeysOf(config), accountId, GRACE_MS[overlap]);
      if (!rotated) throw new Problem('signing_unavailable');
      await record(transaction, request, 'signing_secret_rotated', { overlap });
      return listSigning(transaction, accountId);
    });
    response.json({ secrets });
  });

  return router;
}

function record(
  transaction: Connection,
  request: Request,
  action: string,
  details: Record<string, unknown> | null = null,
) {
  const accountId = accountIdOf(request);
  return recordBy(transaction, request, { accountId, action, subject: `account:${accountId}`, details });
}
