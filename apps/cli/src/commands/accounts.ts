import {
  type Account,
  createAccount,
  isMoving,
  listAccounts,
  lockAccount,
  setHoldChangedDeliveries,
  setRateLimit,
  setSignedOnly,
  setSuspended,
} from '@orders/database/accounts/accounts.ts';
import { openTestAccount } from '@orders/database/accounts/test-accounts.ts';
import { type Connection, inTransaction } from '@orders/database/run.ts';
import { setSecondFactorRequired } from '@orders/database/users/second-factors.ts';
import { type AccountRateLimit, formatAccountRateLimit } from '@orders/domain/rate-limit.ts';
import { ACCOUNT, limit, name, rateLimit, span } from '../arguments.ts';
import { recordAccountAction, recordAction } from '../audit.ts';
import { argument, type CommandSpec, type Group, option, rows } from '../command.ts';
import type { Context } from '../context.ts';
import { Failure, MOVING, UsageError } from '../errors.ts';
import { type BusyAccount, listBusyAccounts } from '../list-busy-accounts.ts';
import { listMovedKeys } from '../list-moved-keys.ts';
import { requireAccount } from '../require.ts';
import { details, table } from '../table.ts';
import { move } from './move-account.ts';

/** @returns the account after `change`, which runs in a transaction. */
async function update(
  { inTransaction }: Context,
  reference: string,
  change: (transaction: Connection, id: number) => Promise<void>,
): Promise<Account> {
  return inTransaction(async (transaction) => {
    const { account_id } = await requireAccount(transaction, reference);
    await change(transaction, account_id);
    return requireAccount(transaction, String(account_id));
  });
}

function stateCommand(about: string, suspended: boolean): CommandSpec {
  return {
    about,
    arguments: [ACCOUNT],
    async run(context, reference: string) {
      const account = await update(context, reference, async (transaction, id) => {
        const before = await lockAccount(transaction, id);
        if (await isMoving(transaction, id)) throw new Failure(MOVING);
        if ((before?.state === 'suspended') === suspended) return;
        await setSuspended(transaction, id, suspended);
        await recordAccountAction(transaction, id, suspended ? 'account_suspended' : 'account_resumed');
      });
      return [account, `Account ${account.account_id} is ${account.state}; intake applies it within 5 seconds.`];
    },
  };
}

export const accounts: Group = {
  about: 'who may send orders',
  commands: {
    create: {
      about: 'make an account; it can send once it has a key (orders keys create)',
      arguments: [argument('<name>', 'its name; need not be unique', accountName)],
      async run({ inTransaction }, newName: string) {
        const account = await inTransaction(async (transaction) => {
          const created = await createAccount(transaction, newName);
          await recordAccountAction(transaction, created.account_id, 'account_created', { name: newName });
          return created;
        });
        return [account, describe(account)];
      },
    },
    list: {
      about: 'all accounts',
      run: async ({ withDatabase }) => rows(await withDatabase(listAccounts), tabulate, 'There are no accounts.'),
    },
    busiest: {
      about: 'who has sent most lately; the last minute may be missing',
      options: [
        option('--within <time>', 'how far back', span('--within'), 900_000),
        option('--limit <number>', 'maximum number of rows', limit, 10),
      ],
      async run({ withDatabase }, { within, limit }: { within: number; limit: number }) {
        const busy = await withDatabase((database) => listBusyAccounts(database, { withinMs: within, limit }));
        return rows(busy, tabulateBusy, 'Nobody has sent anything lately.');
      },
    },
    show: {
      about: 'one account',
      arguments: [ACCOUNT],
      async run({ withDatabase }, reference: string) {
        const account = await withDatabase((database) => requireAccount(database, reference));
        return [account, describe(account)];
      },
    },
    test: {
      about:
        'the test account of an account, made the first time; its orders are never dispatched, and removed after 7 days',
      arguments: [ACCOUNT],
      async run({ withSecrets }, reference: string) {
        const opened = await withSecrets((database, keys) =>
          inTransaction(database, async (transaction) => {
            const { account_id } = await requireAccount(transaction, reference);
            const found = await openTestAccount(transaction, account_id, keys);
            // The account was found in this transaction, and accounts are never deleted.
            const { account, isNew, equipped } = found as NonNullable<typeof found>;
            const id = account.account_id;
            if (isNew)
              await recordAction(transaction, {
                accountId: account_id,
                action: 'test_account_created',
                subject: `account:${id}`,
              });
            for (const action of equipped) await recordAccountAction(transaction, id, action);
            return account;
          }),
        );
        return [opened, describe(opened)];
      },
    },
    suspend: stateCommand('reject new deliveries of an account; earlier ones are still processed', true),
    resume: stateCommand('accept deliveries of a suspended account again', false),
    move,
    limit: {
      about: 'set how fast an account may send; all intakes count together',
      arguments: [
        ACCOUNT,
        argument('<limit>', 'such as 100/1s; none; or default, which is the RATE_LIMIT of intake', rateLimit),
      ],
      examples: ['orders accounts limit "Corner Bakery" 6000/1m', 'orders accounts limit 12 none'],
      async run(context, reference: string, limit: AccountRateLimit) {
        const account = await update(context, reference, async (transaction, id) => {
          await setRateLimit(transaction, id, limit);
          await recordAccountAction(transaction, id, 'rate_limit_set', { rate_limit: formatAccountRateLimit(limit) });
        });
        const what = `The rate limit of account ${account.account_id}`;
        return [account, `${what} is ${limitText(account)}; intake applies it within 5 seconds.`];
      },
    },
    'moved-keys': {
      about:
        'a map for HAProxy: hashes of the keys and sources of moved accounts, with the address of their installation',
      examples: ['orders accounts moved-keys > moved.map'],
      async run({ withDatabase }) {
        const keys = await withDatabase(listMovedKeys);
        return rows(
          keys,
          (all) => all.map(({ hash, moved_to }) => `${hash} ${moved_to}`).join('\n'),
          '# No account was moved.',
        );
      },
    },
    resends: {
      about: 'set what happens to an order in review that is sent again with other content',
      arguments: [
        ACCOUNT,
        argument('<what>', 'ignore: the change is shown; hold: the order also waits until somebody chooses a version', [
          'ignore',
          'hold',
        ]),
      ],
      examples: ['orders accounts resends "Corner Bakery" hold'],
      async run(context, reference: string, resends: Account['resends']) {
        const account = await update(context, reference, async (transaction, id) => {
          const before = await lockAccount(transaction, id);
          if (before?.resends === resends) return;
          await setHoldChangedDeliveries(transaction, id, resends === 'hold');
          await recordAccountAction(transaction, id, 'resends_hold_changed', { resends });
        });
        return [account, `Account ${account.account_id}: ${CHANGED_DELIVERIES[account.resends]}.`];
      },
    },
    'signed-only': {
      about: 'set whether orders and cancellations must be signed; needs signing to be enabled',
      arguments: [
        ACCOUNT,
        argument('<what>', 'on: a key alone sends and cancels nothing; off: unsigned routes too', ['on', 'off']),
      ],
      examples: ['orders accounts signed-only "Corner Bakery" on'],
      async run(context, reference: string, what: 'on' | 'off') {
        const signedOnly = what === 'on';
        const account = await update(context, reference, async (transaction, id) => {
          const before = await lockAccount(transaction, id);
          if (before?.signed_only === signedOnly) return;
          if (signedOnly && !before?.signing_enabled)
            throw new Failure(`Signing is not enabled for account ${id}: orders signing enable ${id}`);
          await setSignedOnly(transaction, id, signedOnly);
          await recordAccountAction(transaction, id, 'signed_only_changed', { signed_only: signedOnly });
        });
        const accepts = signedOnly ? 'signed deliveries only' : 'signed and unsigned deliveries';
        return [account, `Account ${account.account_id} accepts ${accepts}; intake applies it within 5 seconds.`];
      },
    },
    'second-factor': {
      about: 'set whether the members of an account need a second factor to use it',
      arguments: [
        ACCOUNT,
        argument('<what>', 'required: members without one are led to set one up; optional: each member decides', [
          'required',
          'optional',
        ]),
      ],
      examples: ['orders accounts second-factor "Corner Bakery" required'],
      async run(context, reference: string, what: 'required' | 'optional') {
        const required = what === 'required';
        const account = await update(context, reference, async (transaction, id) => {
          if (await setSecondFactorRequired(transaction, id, required))
            await recordAccountAction(transaction, id, 'second_factor_requirement_changed', { required });
        });
        return [account, `A second factor is ${what} for the members of account ${account.account_id}.`];
      },
    },
  },
};

const CHANGED_DELIVERIES: Record<Account['resends'], string> = {
  ignore: 'an order that is sent again with other content can still be confirmed',
  hold: 'an order that is sent again with other content can be confirmed once somebody has chosen a version',
};

function accountName(text: string): string {
  const checked = name('The name of an account')(text);
  if (/^\d+$/.test(checked)) throw new UsageError('The name of an account is not only digits: they are read as an id.');
  return checked;
}

function describe(account: Account): string {
  return details([
    ['account', account.account_id],
    ['name', account.name],
    ['state', account.state],
    ['signing', signingText(account) ?? 'not enabled'],
    ['rate limit', limitText(account)],
    ['resends', account.resends],
    ['tests of account', account.test_of ?? undefined],
    ['second factor', account.second_factor_required ? 'required' : 'optional'],
    ['created', account.created_at],
    ['suspended', account.suspended_at ?? undefined],
    ['moved to', account.moved_to ?? undefined],
  ]);
}

function tabulate(accounts: readonly Account[]): string {
  return table(accounts, [
    { head: 'ID', cell: (account) => account.account_id, right: true },
    { head: 'NAME', cell: (account) => account.name, shrinks: true },
    { head: 'STATE', cell: (account) => account.state },
    { head: 'TESTS OF', cell: (account) => account.test_of, right: true },
    { head: 'SIGNING', cell: signingText },
    { head: 'LIMIT', cell: limitText },
    { head: 'RESENDS', cell: (account) => account.resends },
    { head: 'CREATED', cell: (account) => account.created_at },
  ]);
}

function tabulateBusy(accounts: readonly BusyAccount[]): string {
  return table(accounts, [
    { head: 'ID', cell: (account) => account.account_id, right: true },
    { head: 'NAME', cell: (account) => account.name, shrinks: true },
    { head: 'STATE', cell: (account) => account.state },
    { head: 'TESTS OF', cell: (account) => account.test_of, right: true },
    { head: 'LIMIT', cell: limitText },
    { head: 'ACCEPTED', cell: (account) => account.accepted, right: true },
    { head: 'DUPLICATE', cell: (account) => account.duplicate, right: true },
    { head: 'DEAD', cell: (account) => account.dead, right: true },
  ]);
}

function signingText({ signing_enabled, signed_only }: Account): string | null {
  return signed_only ? 'signed only' : signing_enabled ? 'enabled' : null;
}

function limitText({ rate_limit }: Account): string {
  return formatAccountRateLimit(rate_limit);
}
