import { type AuditEntry, recordAudit } from '@orders/database';
import { whoami } from './whoami.ts';
import type { Knex } from './with-database.ts';

/** Keeps in the audit trail what was done here, as the portal does; in the transaction that does it. */
export function recordAction(trx: Knex, entry: Omit<AuditEntry, 'actor'>): Promise<void> {
  return recordAudit(trx, { ...entry, actor: whoami() });
}

/** The same of what was done to an account as a whole. */
export function recordAccountAction(
  trx: Knex,
  accountId: number,
  action: string,
  details: AuditEntry['details'] = null,
): Promise<void> {
  return recordAction(trx, { accountId, action, subject: `account:${accountId}`, details });
}
