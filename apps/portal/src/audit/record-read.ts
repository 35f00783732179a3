import type { Request, RequestHandler } from 'express';
import { accountIdOf, personOf } from '../context.ts';
import type { PortalDeps } from '../deps.ts';
import { digestOf } from '../sign-in/attempt-bounds.ts';
import { recordAuditWithin } from './limited-audit.ts';

/** Pages poll, so there is at most one entry per operator, account and kind within this time. */
const WINDOW_MS = 10 * 60_000;

/** What an operator reads: the values of `kind` in the entry. */
export type ReadKind = 'orders' | 'search' | 'order' | 'receipts' | 'receipt' | 'activity';

/** For routes of an account: records, before the read, that an operator reads its personal data. */
export function recordRead(deps: Pick<PortalDeps, 'database'>, kind: ReadKind): RequestHandler {
  return async (request, _response, next) => {
    const isSearch = kind === 'orders' && Boolean(request.query.q);
    await recordReadOf(deps, request, accountIdOf(request), isSearch ? 'search' : kind);
    next();
  };
}

/**
 * Records that an operator reads personal data. Reads by members of the account are not recorded.
 *
 * @param accountId null for all accounts.
 */
export async function recordReadOf(
  { database }: Pick<PortalDeps, 'database'>,
  request: Request,
  accountId: number | null,
  kind: ReadKind,
): Promise<void> {
  const { role, email } = personOf(request);
  if (role !== 'operator') return;
  const key = digestOf('audit read', email, String(accountId), kind);
  const subject = accountId === null ? 'accounts' : `account:${accountId}`;
  await recordAuditWithin(
    database,
    [{ key, max: 1, windowMs: WINDOW_MS }],
    [{ accountId, actor: email, action: 'personal_data_read', subject, details: { kind } }],
  );
}
