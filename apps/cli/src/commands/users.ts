import { type CreatedInvitation, findUser, inviteUser, listUsers, removeUser, type User } from '@orders/database';
import { ConfigurationError } from '@orders/runtime';
import { type Command, Option } from 'commander';
import { email, json, span } from '../arguments.ts';
import { whoami } from '../audit.ts';
import type { Context } from '../context.ts';
import { Failure, UsageError } from '../errors.ts';
import { requireAccount } from '../require-account.ts';
import { details, table } from '../table.ts';
import type { Knex } from '../with-database.ts';

const linkLifetime = span('--expires');

/** `orders users invite | list | remove`. */
export function addUserCommands(program: Command, context: Context): void {
  const users = program.command('users').description('who may sign in to the portal');

  users
    .command('invite')
    .description('make a one-time link that lets somebody set a password and sign in; print it, this once')
    .argument('<email>', 'their e-mail address', email)
    .option('--account <account>', 'as holder of this account (id or exact name)')
    .option('--operator', 'as operator, who sees all accounts')
    .addOption(
      new Option('--expires <time>', 'how long the link works')
        .argParser(linkLifetime)
        .default(linkLifetime('7d'), '7d'),
    )
    .addOption(json())
    .addHelpText(
      'after',
      '\nFor somebody who is a user already, with neither option, the link sets a new password.\n\nExamples:\n  $ orders users invite aisha@example.com --account "Corner Bakery"\n  $ orders users invite omar@example.com --operator --expires 24h',
    )
    .action(async (address: string, options) => {
      if (options.account !== undefined && options.operator)
        throw new UsageError('Give either --account or --operator.');
      if (options.expires === 0)
        throw new UsageError('--expires takes a time span such as 30m, 24h or 7d, at most 365d.');
      const { PORTAL_URL } = await context.config();
      if (!PORTAL_URL)
        throw new ConfigurationError("Configuration: set PORTAL_URL to the portal's address for browsers.");
      const invitation = await context.withDatabase((knex) => invite(knex, address, options));
      const link = `${PORTAL_URL}/invitation#${invitation.token}`;
      const expires = new Date(Date.now() + options.expires);
      context.print(options, invitationJson(invitation, link, expires), () => describe(invitation, link, expires));
    });

  users
    .command('list')
    .description('users of the portal')
    .argument('[account]', 'of this account (id or exact name)')
    .addOption(json())
    .action(async (reference: string | undefined, options) => {
      const all = await context.withDatabase(async (knex) => {
        const account = reference === undefined ? undefined : await requireAccount(knex, reference);
        return listUsers(knex, { accountId: account?.account_id });
      });
      context.print(options, all, () => (all.length > 0 ? tabulate(all) : 'There are no users.'));
    });

  users
    .command('remove')
    .description('end the access of a user at once, with all sessions and links')
    .argument('<email>', 'as users list shows it', email)
    .addOption(json())
    .action(async (address: string, options) => {
      const user = await context.withDatabase((knex) => remove(knex, address));
      context.print(options, user, () => `${user.email} is removed; all sessions have ended.`);
    });
}

async function invite(
  knex: Knex,
  address: string,
  options: { account?: string; operator?: boolean; expires: number },
): Promise<CreatedInvitation> {
  const user = await findUser(knex, address);
  const account = options.account === undefined ? null : await requireAccount(knex, options.account);
  if (!user && !account && !options.operator)
    throw new UsageError('Give --account <account> or --operator; there is no user with this address yet.');
  const requested = account
    ? ({ role: 'account_holder', accountId: account.account_id } as const)
    : ({ role: 'operator', accountId: null } as const);
  const known = user && { role: user.role, accountId: user.account_id };
  const { role, accountId } = account || options.operator || !known ? requested : known;
  const created = await inviteUser(knex, { email: address, role, accountId }, whoami(), options.expires);
  if (created) return created;
  const as = user?.role === 'operator' ? 'operator' : `holder of account ${user?.account_id}`;
  throw new Failure(`${address} is a user already, as ${as}; to change that, first: orders users remove ${address}`);
}

async function remove(knex: Knex, address: string): Promise<User> {
  const user = await removeUser(knex, address, whoami());
  if (!user) throw new Failure(`There is no user ${address}; orders users list shows all.`);
  return user;
}

function invitationJson({ email, role, accountId, isUser }: CreatedInvitation, link: string, expires: Date): object {
  return { email, role, account_id: accountId, link, expires_at: expires, sets_new_password: isUser };
}

function describe({ email, role, accountId, isUser }: CreatedInvitation, link: string, expires: Date): string {
  const text = details([
    ['link', link],
    ['for', email],
    ['as', role === 'operator' ? 'operator' : `holder of account ${accountId}`],
    ['works until', expires],
  ]);
  const what = isUser
    ? 'They are a user already: it sets a new password and ends their sessions.'
    : 'It lets them set a password and sign in.';
  return `${text}\n${what} It works once and cannot be shown again; anyone who has it can sign in.`;
}

function tabulate(users: readonly User[]): string {
  return table(users, [
    { head: 'E-MAIL', cell: (user) => user.email, shrinks: true },
    { head: 'NAME', cell: (user) => user.name, shrinks: true },
    { head: 'ROLE', cell: (user) => user.role.replace('_', ' ') },
    { head: 'ACCOUNT', cell: (user) => user.account_id, right: true },
    { head: 'SINCE', cell: (user) => user.created_at },
    { head: 'LAST SIGNED IN', cell: (user) => user.last_signed_in_at },
  ]);
}
