import { type AuditEntry, recordAudit } from '@orders/database/audit.ts';
import { whoami } from './arguments.ts';
import type { Knex } from './with-database.ts';

/** Records an action in the audit trail, in the action's own transaction. */
export function recordAction(trx: Knex, entry: Omit<AuditEntry, 'actor'>): Promise<void> {
  return recordAudit(trx, { ...entry, actor: whoami() });
}

/** Like `recordAction`, for an action on an account as a whole. */
export function recordAccountAction(
  trx: Knex,
  accountId: number,
  action: string,
  details: AuditEntry['details'] = null,
): Promise<void> {
  return recordAction(trx, { accountId, action, subject: `account:${accountId}`, details });
}
