import { userInfo } from 'node:os';
import { type AuditEntry, recordAudit } from '@orders/database/audit.ts';
import type { Knex } from './with-database.ts';

/** The actor for the audit trail: the user of the operating system. */
export function whoami(): string {
  try {
    return `operator:${userInfo().username}`;
  } catch {
    // A container may run as a user id without a name.
    return `operator:${process.getuid?.() ?? 'unknown'}`;
  }
}

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
