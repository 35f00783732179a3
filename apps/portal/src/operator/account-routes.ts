import {
  type Account,
  createAccount,
  findAccount,
  isMoving,
  lockAccount,
  setRateLimit,
  setSuspended,
} from '@orders/database/accounts/accounts.ts';
import { disableSigning, enableSigning } from '@orders/database/accounts/signing-secrets.ts';
import type { AuditEntry } from '@orders/database/audit.ts';
import { type Connection, inTransaction } from '@orders/database/run.ts';
import { Problem } from '@orders/domain/problems.ts';
import { type AccountRateLimit, formatAccountRateLimit, parseAccountRateLimit } from '@orders/domain/rate-limit.ts';
import { secretsKeysOf } from '@orders/runtime/config/settings.ts';
import { type Request, Router } from 'express';
import Joi from 'joi';
import { recordBy } from '../audit/record.ts';
import type { PortalDeps } from '../deps.ts';
import { bodyOf, idOf, MAX_SMALL_ID, paginate, plainText, queryOf, smallId } from '../read-request.ts';
import { COUNTED_TO, listAccountsWithCounts } from './list-accounts-with-counts.ts';

const PAGE_SIZE = 50;

/** Not only digits: the command line would read those as an id. */
const accountName = plainText(200).trim().pattern(/^\d+$/, { invert: true }).required();

/** `100/1s`, `none` or `default` (parsed as null). */
const rateLimit = Joi.string().custom(parseAccountRateLimit);

interface Change {
  suspended?: boolean;
  signing?: boolean;
  rate_limit?: AccountRateLimit;
}

/** Lists, creates and changes accounts. Each change writes an audit entry. */
export function accountRoutes({ database, config }: PortalDeps): Router {
  const router = Router();

  router.get('/accounts', async (request, response) => {
    const { q, after } = queryOf<{ q?: string; after?: number }>(request, {
      q: plainText(200).trim().allow(''),
      after: smallId,
    });
    const accounts = await listAccountsWithCounts(database, { text: q, after, limit: PAGE_SIZE + 1 });
    const { page, next } = paginate(accounts, PAGE_SIZE, ({ account_id }) => account_id);
    response.json({ accounts: page.map(accountJson), counted_to: COUNTED_TO, next });
  });

  router.post('/accounts', async (request, response) => {
    const { name } = bodyOf<{ name: string }>(request, { name: accountName });
    const account = await inTransaction(database, async (transaction) => {
      const created = await createAccount(transaction, name);
      await record(transaction, request, created.account_id, 'account_created', { name });
      return created;
    });
    response.status(201).json(accountJson(account));
  });

  router.patch('/accounts/:accountId', async (request, response) => {
    const change = bodyOf<Change>(request, {
      suspended: Joi.boolean().strict(),
      signing: Joi.boolean().strict(),
      rate_limit: rateLimit,
    });
    const id = idOf(request.params.accountId, MAX_SMALL_ID);
    const account = await inTransaction(database, (transaction) => apply(transaction, id, change, request));
    response.json(accountJson(account));
  });

  async function apply(transaction: Connection, id: number | null, change: Change, request: Request): Promise<Account> {
    // Locked, so that the audit entry matches the change.
    const before = id === null ? null : await lockAccount(transaction, id);
    if (!before) throw new Problem('account_not_found');
    const { account_id: accountId } = before;
    if (await isMoving(transaction, accountId))
      throw new Problem('account_suspended', {
        detail: 'This account is being moved to another installation, or was.',
      });
    if (change.suspended !== undefined && change.suspended !== (before.state === 'suspended')) {
      await setSuspended(transaction, accountId, change.suspended);
      await record(transaction, request, accountId, change.suspended ? 'account_suspended' : 'account_resumed');
    }
    if (change.signing !== undefined && change.signing !== before.signing_enabled) {
      if (change.signing) await enableSigning(transaction, secretsKeysOf(config), accountId);
      else await disableSigning(transaction, accountId);
      await record(transaction, request, accountId, change.signing ? 'signing_enabled' : 'signing_disabled');
    }
    if (change.rate_limit !== undefined) {
      await setRateLimit(transaction, accountId, change.rate_limit);
      await record(transaction, request, accountId, 'rate_limit_set', {
        rate_limit: formatAccountRateLimit(change.rate_limit),
      });
    }
    return (await findAccount(transaction, accountId)) as Account;
  }

  return router;
}

function record(
  transaction: Connection,
  request: Request,
  accountId: number,
  action: string,
  details: AuditEntry['details'] = null,
) {
  return recordBy(transaction, request, { accountId, action, subject: `account:${accountId}`, details });
}

function accountJson<T extends Account>(account: T): Omit<T, 'rate_limit'> & { rate_limit: string } {
  return { ...account, rate_limit: formatAccountRateLimit(account.rate_limit) };
}
