import {
  type Account,
  createAccount,
  listAccounts,
  lockAccount,
  setHoldResends,
  setRateLimit,
  setSignedOnly,
  setSuspended,
} from '@orders/database/accounts/accounts.ts';
import { type Connection, inTransaction } from '@orders/database/run.ts';
import { setSecondFactorRequired } from '@orders/database/users/second-factors.ts';
import { type AccountRateLimit, formatAccountRateLimit } from '@orders/domain/rate-limit.ts';
import { Argument, type Command } from 'commander';
import { json, limit, name, rateLimit, span } from '../arguments.ts';
import { recordAccountAction } from '../audit.ts';
import type { Context } from '../context.ts';
import { Failure, UsageError } from '../errors.ts';
import { type BusyAccount, listBusyAccounts } from '../list-busy-accounts.ts';
import { requireAccount } from '../require.ts';
import { details, table } from '../table.ts';

/** `orders accounts create | list | busiest | show | suspend | resume | limit | resends | signed-only | second-factor`. */
export function addAccountCommands(program: Command, context: Context): void {
  const accounts = program.command('accounts').description('who may send orders');

  accounts
    .command('create')
    .description('make an account; it can send once it has a key (orders keys create)')
    .argument('<name>', 'its name; need not be unique', accountName)
    .addOption(json())
    .action(async (newName: string, options) => {
      const account = await context.withDatabase((database) =>
        inTransaction(database, async (transaction) => {
          const created = await createAccount(transaction, newName);
          await recordAccountAction(transaction, created.account_id, 'account_created', { name: newName });
          return created;
        }),
      );
      context.print(options, account, () => describe(account));
    });

  accounts
    .command('list')
    .description('all accounts')
    .addOption(json())
    .action(async (options) => {
      const all = await context.withDatabase(listAccounts);
      context.print(options, all, () => (all.length > 0 ? tabulate(all) : 'There are no accounts.'));
    });

  accounts
    .command('busiest')
    .description('who has sent most lately; the last minute may be missing')
    .option('--within <time>', 'how far back', span('--within'), 900_000)
    .option('--limit <number>', 'maximum number of rows', limit, 10)
    .addOption(json())
    .action(async (options) => {
      const { within: withinMs, limit: count } = options;
      const busy = await context.withDatabase((database) => listBusyAccounts(database, { withinMs, limit: count }));
      context.print(options, busy, () => (busy.length > 0 ? tabulateBusy(busy) : 'Nobody has sent anything lately.'));
    });

  accounts
    .command('show')
    .description('one account')
    .argument('<account>', 'id or exact name')
    .addOption(json())
    .action(async (reference: string, options) => {
      const account = await context.withDatabase((database) => requireAccount(database, reference));
      context.print(options, account, () => describe(account));
    });

  /** @returns the account after `change`, which runs in a transaction. */
  const update = (reference: string, change: (transaction: Connection, id: number) => Promise<void>) =>
    context.withDatabase(async (database) => {
      const { account_id } = await requireAccount(database, reference);
      await inTransaction(database, (transaction) => change(transaction, account_id));
      return requireAccount(database, String(account_id));
    });

  const setState = (suspended: boolean) => async (reference: string, options: { json?: boolean }) => {
    const account = await update(reference, async (transaction, id) => {
      const before = await lockAccount(transaction, id);
      if ((before?.state === 'suspended') === suspended) return;
      await setSuspended(transaction, id, suspended);
      await recordAccountAction(transaction, id, suspended ? 'account_suspended' : 'account_resumed');
    });
    const { account_id, state } = account;
    context.print(options, account, () => `Account ${account_id} is ${state}; intake applies it within 5 seconds.`);
  };

  accounts
    .command('suspend')
    .description('refuse new deliveries of an account; earlier ones are still processed')
    .argument('<account>', 'id or exact name')
    .addOption(json())
    .action(setState(true));

  accounts
    .command('resume')
    .description('accept deliveries of a suspended account again')
    .argument('<account>', 'id or exact name')
    .addOption(json())
    .action(setState(false));

  accounts
    .command('limit')
    .description('set how fast an account may send; all intakes count together')
    .argument('<account>', 'id or exact name')
    .argument('<limit>', 'such as 100/1s; none; or default, which is the RATE_LIMIT of intake', rateLimit)
    .addOption(json())
    .addHelpText(
      'after',
      '\nExamples:\n  $ orders accounts limit "Corner Bakery" 6000/1m\n  $ orders accounts limit 12 none',
    )
    .action(async (reference: string, limit: AccountRateLimit, options) => {
      const account = await update(reference, async (transaction, id) => {
        await setRateLimit(transaction, id, limit);
        await recordAccountAction(transaction, id, 'rate_limit_set', { rate_limit: formatAccountRateLimit(limit) });
      });
      const what = `The rate limit of account ${account.account_id}`;
      context.print(options, account, () => `${what} is ${limitText(account)}; intake applies it within 5 seconds.`);
    });

  accounts
    .command('resends')
    .description('set what happens to an order in review that is sent again with other content')
    .argument('<account>', 'id or exact name')
    .addArgument(
      new Argument(
        '<what>',
        'ignore: the change is shown; hold: the order also waits until somebody accepts or refuses the change',
      ).choices(['ignore', 'hold']),
    )
    .addOption(json())
    .addHelpText('after', '\nExample:\n  $ orders accounts resends "Corner Bakery" hold')
    .action(async (reference: string, resends: Account['resends'], options) => {
      const account = await update(reference, async (transaction, id) => {
        const before = await lockAccount(transaction, id);
        if (before?.resends === resends) return;
        await setHoldResends(transaction, id, resends === 'hold');
        await recordAccountAction(transaction, id, 'resends_hold_changed', { resends });
      });
      context.print(options, account, () => `Account ${account.account_id}: ${RESENDS[account.resends]}.`);
    });

  accounts
    .command('signed-only')
    .description('set whether orders and cancellations must be signed; needs signing to be enabled')
    .argument('<account>', 'id or exact name')
    .addArgument(
      new Argument('<what>', 'on: a key alone sends and cancels nothing; off: unsigned routes too').choices([
        'on',
        'off',
      ]),
    )
    .addOption(json())
    .addHelpText('after', '\nExample:\n  $ orders accounts signed-only "Corner Bakery" on')
    .action(async (reference: string, what: 'on' | 'off', options) => {
      const signedOnly = what === 'on';
      const account = await update(reference, async (transaction, id) => {
        const before = await lockAccount(transaction, id);
        if (before?.signed_only === signedOnly) return;
        if (signedOnly && !before?.signing_enabled)
          throw new Failure(`Signing is not enabled for account ${id}: orders signing enable ${id}`);
        await setSignedOnly(transaction, id, signedOnly);
        await recordAccountAction(transaction, id, 'signed_only_changed', { signed_only: signedOnly });
      });
      const accepts = signedOnly ? 'signed deliveries only' : 'signed and unsigned deliveries';
      context.print(
        options,
        account,
        () => `Account ${account.account_id} accepts ${accepts}; intake applies it within 5 seconds.`,
      );
    });

  accounts
    .command('second-factor')
    .description('set whether the members of an account need a second factor to use it')
    .argument('<account>', 'id or exact name')
    .addArgument(
      new Argument(
        '<what>',
        'required: members without one are led to set one up; optional: each member decides',
      ).choices(['required', 'optional']),
    )
    .addOption(json())
    .addHelpText('after', '\nExample:\n  $ orders accounts second-factor "Corner Bakery" required')
    .action(async (reference: string, what: 'required' | 'optional', options) => {
      const required = what === 'required';
      const account = await update(reference, async (transaction, id) => {
        if (await setSecondFactorRequired(transaction, id, required))
          await recordAccountAction(transaction, id, 'second_factor_requirement_changed', { required });
      });
      context.print(
        options,
        account,
        () => `A second factor is ${what} for the members of account ${account.account_id}.`,
      );
    });
}

const RESENDS: Record<Account['resends'], string> = {
  ignore: 'an order that is sent again with other content can still be confirmed',
  hold: 'an order that is sent again with other content can be confirmed once that is accepted or refused',
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
    ['second factor', account.second_factor_required ? 'required' : 'optional'],
    ['created', account.created_at],
    ['suspended', account.suspended_at ?? undefined],
  ]);
}

function tabulate(accounts: readonly Account[]): string {
  return table(accounts, [
    { head: 'ID', cell: (account) => account.account_id, right: true },
    { head: 'NAME', cell: (account) => account.name, shrinks: true },
    { head: 'STATE', cell: (account) => account.state },
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
