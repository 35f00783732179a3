import { type AuditEvent, listAudit } from '@orders/database/audit.ts';
import { connectionOf } from '@orders/test-services/open-knex.ts';
import type { Knex } from 'knex';

const OF_PEOPLE = ['signed_in', 'signed_out', 'sign_in_failed', 'personal_data_read'];

/** Whether an audit event is about a change, and not about a sign-in or a read. */
export const isChange = ({ action }: Pick<AuditEvent, 'action'>): boolean => !OF_PEOPLE.includes(action);

/** The changes of an account, newest first. */
export async function listChanges(db: Knex, accountId: number, limit = 100): Promise<AuditEvent[]> {
  return (await listAudit(connectionOf(db), { accountId, limit })).filter(isChange);
}
