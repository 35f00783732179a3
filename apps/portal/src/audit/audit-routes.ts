import { listAudit } from '@orders/database/audit.ts';
import { findOrderBySource } from '@orders/database/orders/find-order-by-source.ts';
import type { Connection } from '@orders/database/run.ts';
import { type Request, Router } from 'express';
import Joi from 'joi';
import { accountIdOf } from '../context.ts';
import type { PortalDeps } from '../deps.ts';
import { paginate, plainText, queryOf, smallId } from '../read-request.ts';
import { nameSubjects } from './audit-subjects.ts';
import { recordRead, recordReadOf } from './record-read.ts';

const PAGE_SIZE = 50;

interface AuditQuery {
  account_id?: number;
  q?: string;
  before?: number;
}

const pageQuery = { q: plainText(300).trim().allow(''), before: Joi.number().integer() };

/** The audit trail of one account, searched by actor, subject or an order's `source_order_id`. */
export function accountAuditRoutes(deps: PortalDeps): Router {
  const { database, runLong } = deps;
  const router = Router();
  router.get('/audit', recordRead(deps, 'activity'), async (request, response) => {
    const { q, before } = queryOf<Omit<AuditQuery, 'account_id'>>(request, pageQuery);
    const accountId = accountIdOf(request);
    const page = await runLong(request, async () =>
      listPage(database, { accountId, ...((await orderOf(accountId, q)) ?? actorOrSubject(q)), before }),
    );
    response.json(page);
  });

  async function orderOf(accountId: number, text: string | undefined): Promise<{ subject: string } | null> {
    const order = text ? await findOrderBySource(database, accountId, text) : null;
    return order && { subject: `order:${order.order_id}` };
  }

  return router;
}

/** The audit trail of all accounts, or of one; for operators. */
export function auditRoutes(deps: PortalDeps): Router {
  const { database, runLong } = deps;
  const router = Router();
  router.get('/audit', async (request: Request, response) => {
    const { account_id, q, before } = queryOf<AuditQuery>(request, { ...pageQuery, account_id: smallId });
    await recordReadOf(deps, request, account_id ?? null, 'activity');
    response.json(
      await runLong(request, () => listPage(database, { accountId: account_id, ...actorOrSubject(q), before })),
    );
  });
  return router;
}

/**
 * Subjects look like `order:17`. Actors are e-mail addresses, `operator:<name>` for the command line, `key:<name>` for an API key, or
 * `network:<hash>` for somebody who is not signed in.
 */
function actorOrSubject(text: string | undefined): { actor?: string; subject?: string } {
  if (!text) return {};
  return /^(?!operator:|network:|key:(?!\d+$))[a-z_]+:/.test(text) ? { subject: text } : { actor: text };
}

async function listPage(database: Connection, filter: Omit<Parameters<typeof listAudit>[1], 'limit'>) {
  const { page, next } = paginate(
    await listAudit(database, { ...filter, limit: PAGE_SIZE + 1 }),
    PAGE_SIZE,
    ({ event_id }) => event_id,
  );
  return { events: await nameSubjects(database, page), next };
}
