import { type Connection, inTransaction } from '@orders/database/run.ts';
import { Problem } from '@orders/domain/problems.ts';
import { type Request, Router } from 'express';
import { NO_TRANSFORM } from '../compress-responses.ts';
import { personOf } from '../context.ts';
import type { PortalDeps } from '../deps.ts';
import { notifySecurityChange } from '../mail/notify-security-change.ts';
import { invitationJson } from '../members/invitation-json.ts';
import { idOf, MAX_SMALL_ID } from '../read-request.ts';
import { applyOperatorChange, changeJson, recordChange } from './operator-changes.ts';
import { listOperatorChanges, type OperatorChange, takeOperatorChange } from './store-operator-changes.ts';

/** Requested changes to operators. Any operator but the requester can approve one, also the one whom it is about. */
export function changeRoutes(deps: PortalDeps): Router {
  const { database, config } = deps;
  const router = Router();

  router.get('/changes', async (request, response) => {
    const { userId } = personOf(request);
    const changes = await listOperatorChanges(database);
    response.json({
      changes: changes.map((change) => ({ ...changeJson(change), own: change.requested_by_id === userId })),
    });
  });

  // The operator who approves gets the link, if there is one, so that the requester alone cannot use it.
  router.post('/changes/:changeId/approve', async (request, response) => {
    const { kind, email, applied } = await inTransaction(database, async (transaction) => {
      const change = await take(transaction, request);
      if (change.requested_by_id === personOf(request).userId) throw new Problem('own_request');
      await recordChange(transaction, request, 'operator_change_approved', change);
      return { ...change, applied: await applyOperatorChange(transaction, change) };
    });
    if (kind === 'reset_second_factor') notifySecurityChange(deps, { email }, 'second_factor_removed');
    if (!applied) return void response.status(204).end();
    response.set(NO_TRANSFORM).json(invitationJson(config.PORTAL_URL, applied));
  });

  router.delete('/changes/:changeId', async (request, response) => {
    await inTransaction(database, async (transaction) => {
      const change = await take(transaction, request);
      const isOwn = change.requested_by_id === personOf(request).userId;
      await recordChange(
        transaction,
        request,
        isOwn ? 'operator_change_withdrawn' : 'operator_change_declined',
        change,
      );
    });
    response.status(204).end();
  });

  return router;
}

async function take(transaction: Connection, request: Request): Promise<OperatorChange> {
  const id = idOf(request.params.changeId, MAX_SMALL_ID);
  const change = id === null ? null : await takeOperatorChange(transaction, id);
  if (!change) throw new Problem('change_not_found');
  return change;
}
