import { type AuditEntry, recordAudit } from '@orders/database/audit.ts';
import type { Connection } from '@orders/database/run.ts';
import { whoami } from './arguments.ts';

/** Records an action in the audit trail, in the action's own transaction. */
export function recordAction(transaction: Connection, entry: Omit<AuditEntry, 'actor'>): Promise<void> {
  return recordAudit(transaction, { ...entry, actor: whoami() });
}

/** Like `recordAction`, for an action on an account as a whole. */
export function recordAccountAction(
  transaction: Connection,
  accountId: number,
  action: string,
  details: AuditEntry['details'] = null,
): Promise<void> {
  return recordAction(transaction, { accountId, action, subject: `account:${accountId}`, details });
}
