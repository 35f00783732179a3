import { listAudit } from '@orders/database';
import { type Request, Router } from 'express';
import Joi from 'joi';
import type { Knex } from 'knex';
import { accountIdOf } from '../context.ts';
import type { PortalDeps } from '../deps.ts';
import { paginate } from '../paginate.ts';
import { plainText, queryOf, smallId } from '../read-request.ts';

const PAGE_SIZE = 50;

interface AuditQuery {
  account_id?: number;
  q?: string;
  before?: number;
}

const page = { q: plainText(300).trim().allow(''), before: Joi.number().integer() };

/** What was done in one account; below an account's address. */
export function accountAuditRoutes({ knex, runFairly }: PortalDeps): Router {
  const router = Router();
  router.get('/audit', async (request, response) => {
    const { q, before } = queryOf<Omit<AuditQuery, 'account_id'>>(request, page);
    const accountId = accountIdOf(request);
    response.json(await runFairly(request, () => list(knex, { accountId, ...whoOrWhat(q), before })));
  });
  return router;
}

/** What was done in all accounts, or in one of them; for operators. */
export function auditRoutes({ knex, runFairly }: PortalDeps): Router {
  const router = Router();
  router.get('/audit', async (request: Request, response) => {
    const { account_id, q, before } = queryOf<AuditQuery>(request, { ...page, account_id: smallId });
    response.json(await runFairly(request, () => list(knex, { accountId: account_id, ...whoOrWhat(q), before })));
  });
  return router;
}

/** A subject has its kind before a colon, as in order:17; whoever acted on the command line is operator:<name>. */
function whoOrWhat(text: string | undefined): { actor?: string; subject?: string } {
  if (!text) return {};
  return /^(?!operator:)[a-z_]+:/.test(text) ? { subject: text } : { actor: text };
}

async function list(knex: Knex, filter: Omit<Parameters<typeof listAudit>[1], 'limit'>) {
  const { shown, next } = paginate(
    await listAudit(knex, { ...filter, limit: PAGE_SIZE + 1 }),
    PAGE_SIZE,
    ({ event_id }) => event_id,
  );
  return { events: shown, next };
}
