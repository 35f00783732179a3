import type { Knex } from 'knex';
import { type AuditEntry, recordAudit } from '../audit.ts';
import { listAccountIds } from './memberships.ts';

/** Records an audit entry about a user in each of their accounts, for the owners of those accounts. */
export async function recordOfUser(
  trx: Knex,
  email: string,
  entry: Pick<AuditEntry, 'actor' | 'action' | 'details'>,
): Promise<void> {
  const accountIds = await listAccountIds(trx, email);
  await recordAudit(trx, ...accountIds.map((accountId) => ({ ...entry, subject: `user:${email}`, accountId })));
}
