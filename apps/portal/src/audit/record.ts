import { type AuditEntry, recordAudit } from '@orders/database/audit.ts';
import type { Connection } from '@orders/database/run.ts';
import type { User } from '@orders/database/users/users.ts';
import type { Request } from 'express';
import { personOf } from '../context.ts';

/** Writes an audit entry with the signed-in person as actor, in the transaction that makes the change. */
export function recordBy(transaction: Connection, request: Request, entry: Omit<AuditEntry, 'actor'>): Promise<void> {
  return recordAudit(transaction, { ...entry, actor: personOf(request).email });
}

/** As `recordBy`, about the signed-in person: an entry for each of their accounts, for the owners of that account. */
export function recordAboutSelf(
  transaction: Connection,
  request: Request,
  action: string,
  details: Record<string, unknown> | null = null,
): Promise<void> {
  const { email, memberships } = personOf(request);
  return recordAbout(
    transaction,
    request,
    email,
    memberships.filter(({ testOf }) => testOf === null).map(({ accountId }) => accountId),
    { action, details },
  );
}

/** As `recordAboutSelf`, about another user. */
export function recordAboutUser(
  transaction: Connection,
  request: Request,
  { email, memberships }: User,
  action: string,
  details: NonNullable<AuditEntry['details']>,
): Promise<void> {
  return recordAbout(
    transaction,
    request,
    email,
    memberships.map(({ account_id }) => account_id),
    { action, details },
  );
}

function recordAbout(
  transaction: Connection,
  request: Request,
  email: string,
  accountIds: number[],
  entry: Required<Pick<AuditEntry, 'action' | 'details'>>,
): Promise<void> {
  const about = { ...entry, actor: personOf(request).email, subject: `user:${email}` };
  return recordAudit(
    transaction,
    ...(accountIds.length > 0 ? accountIds : [null]).map((accountId) => ({ ...about, accountId })),
  );
}
