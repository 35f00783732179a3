import type { Database } from '@orders/database/connect.ts';
import { unbindUser } from '@orders/database/users/identities.ts';
import { type CreatedInvitation, inviteUser } from '@orders/database/users/invite-user.ts';
import {
  changeMemberRole,
  MEMBER_ROLES,
  type Member,
  type MemberRole,
  removeMember,
} from '@orders/database/users/memberships.ts';
import { withdrawInvitations } from '@orders/database/users/pending-invitations.ts';
import { resetSecondFactors } from '@orders/database/users/second-factors.ts';
import { findUser, listUsers, removeUser, type User } from '@orders/database/users/users.ts';
import { ConfigurationError } from '@orders/runtime/config/environment.ts';
import { email, span, whoami } from '../arguments.ts';
import { argument, type Group, option, rows } from '../command.ts';
import { Failure, UsageError } from '../errors.ts';
import { requireAccount } from '../require.ts';
import { details, table } from '../table.ts';

const EMAIL = argument('<email>', 'as users list shows it', email);
const ANY_EMAIL = argument('<email>', 'their e-mail address', email);

interface InviteOptions {
  account?: string;
  role?: MemberRole;
  operator?: boolean;
  expires: number;
}

/** Changes to operators need no approval here. */
export const users: Group = {
  about: 'who may sign in to the portal',
  commands: {
    invite: {
      about: 'make a one-time link that lets somebody set a password and sign in; print it, this once',
      arguments: [ANY_EMAIL],
      options: [
        option('--account <account>', 'as member of this account (id or exact name)'),
        option('--role <role>', 'what they may do in the account (default: owner)', MEMBER_ROLES),
        option('--operator', 'as operator, who sees all accounts'),
        option('--expires <time>', 'how long the link works', span('--expires'), 7 * 86_400_000, '7d'),
      ],
      help: 'Roles: viewer (reads), reviewer (also reviews orders), developer (reads, also changes the integrations), owner (all of these, and the members).\nFor a member of the account, for an operator, and for any user with neither option, the link sets a new password.',
      examples: [
        'orders users invite aisha@example.com --account "Corner Bakery" --role reviewer',
        'orders users invite omar@example.com --operator --expires 24h',
      ],
      async run({ config, withDatabase }, address: string, options: InviteOptions) {
        if (options.account !== undefined && options.operator)
          throw new UsageError('Give either --account or --operator.');
        if (options.role !== undefined && options.account === undefined)
          throw new UsageError('--role is a role in an account: give --account, too.');
        if (options.expires === 0)
          throw new UsageError('--expires takes a time span such as 30m, 24h or 7d, at most 365d.');
        const { PORTAL_URL } = await config();
        if (!PORTAL_URL)
          throw new ConfigurationError("Configuration: set PORTAL_URL to the portal's address for browsers.");
        const invitation = await withDatabase((database) => invite(database, address, options));
        const link = `${PORTAL_URL}/invitation#${invitation.token}`;
        const expires = new Date(Date.now() + options.expires);
        return [invitationJson(invitation, link, expires), describe(invitation, link, expires)];
      },
    },
    list: {
      about: 'users of the portal',
      arguments: [argument('[account]', 'of this account (id or exact name)')],
      async run({ withDatabase }, reference: string | undefined) {
        const all = await withDatabase(async (database) => {
          const account = reference === undefined ? undefined : await requireAccount(database, reference);
          return listUsers(database, { accountId: account?.account_id });
        });
        return rows(all, tabulate, 'There are no users.');
      },
    },
    role: {
      about: 'change what a member may do in an account',
      arguments: [
        EMAIL,
        argument('<account>', 'the account (id or exact name)'),
        argument('<role>', 'the new role', MEMBER_ROLES),
      ],
      async run({ withDatabase }, address: string, reference: string, role: MemberRole) {
        const changed = await withDatabase((database) =>
          withMember(database, address, reference, (member) => changeMemberRole(database, { ...member, role })),
        );
        return [changed, `${changed.email} is ${changed.role} now.`];
      },
    },
    'reset-second-factor': {
      about: 'remove the passkeys, the authenticator app and the recovery codes of somebody who has lost them',
      arguments: [EMAIL],
      async run({ withDatabase }, address: string) {
        const user = await withDatabase((database) => resetSecondFactors(database, address, whoami()));
        if (!user) throw noSuchUser(address);
        return [
          { email: user.email },
          `${user.email} has no second factor any more, and all sessions have ended. Their password still works.`,
        ];
      },
    },
    remove: {
      about: 'end the access of a user at once, with all sessions and links; withdraw the invitation of somebody else',
      arguments: [ANY_EMAIL],
      options: [option('--account <account>', 'only the access to this account (id or exact name)')],
      async run({ withDatabase }, address: string, { account }: { account?: string }) {
        const removed = await withDatabase((database) => remove(database, address, account));
        if (removed === 'withdrawn')
          return [
            { email: address, invitation_withdrawn: true },
            `${address} is not a user yet; the invitation is withdrawn.`,
          ];
        const effect = account === undefined ? 'removed; all sessions have ended' : 'no longer a member of the account';
        return [removed, `${removed.email} is ${effect}.`];
      },
    },
    unlink: {
      about: 'let a user sign in by another account of the identity provider; end their sessions',
      arguments: [EMAIL],
      help: 'The first sign-in by the identity provider links a user to that account there. After this command, the next one does so again.',
      async run({ withDatabase }, address: string) {
        const found = await withDatabase((database) => unbindUser(database, address, whoami()));
        if (!found) throw noSuchUser(address);
        const { user, wasBound } = found;
        const text = wasBound
          ? `${user.email} is unlinked; all sessions have ended.`
          : `${user.email} was not linked to an account of an identity provider.`;
        return [{ email: user.email, unlinked: wasBound }, text];
      },
    },
  },
};

function noSuchUser(address: string): Failure {
  return new Failure(`There is no user ${address}; orders users list shows all.`);
}

async function invite(database: Database, address: string, options: InviteOptions): Promise<CreatedInvitation> {
  const user = await findUser(database, address);
  const account = options.account === undefined ? null : await requireAccount(database, options.account);
  if (!user && !account && !options.operator)
    throw new UsageError('Give --account <account> or --operator; there is no user with this address yet.');
  const accountId = account?.account_id ?? (options.operator ? null : (user?.memberships[0]?.account_id ?? null));
  const role = accountId === null ? 'operator' : 'account_holder';
  const invited = { email: address, role, accountId, memberRole: options.role } as const;
  const created = await inviteUser(database, invited, whoami(), options.expires);
  if (created === 'other_role')
    throw new Failure(`${address} has another role in account ${accountId}; to change it: orders users role`);
  if (created === 'other_kind')
    throw new Failure(
      `${address} is a user already, as ${user ? accessOf(user) : 'somebody else'}; to change that, first: orders users remove ${address}`,
    );
  return created;
}

/** Removes a user, or a member of one account, or withdraws what invites the address. */
async function remove(
  database: Database,
  address: string,
  account: string | undefined,
): Promise<User | Member | 'withdrawn'> {
  if (account === undefined) {
    const user = await removeUser(database, address, whoami());
    if (!user) throw noSuchUser(address);
    return user;
  }
  const { account_id } = await requireAccount(database, account);
  const withdrawn = await withdrawInvitations(database, { account_id, email: address.toLowerCase() }, whoami());
  if (withdrawn.length > 0) return 'withdrawn';
  return withMember(database, address, account, (member) => removeMember(database, member));
}

/** Changes a member of an account. Only this command line and operators may leave an account without an owner. */
async function withMember<Result>(
  database: Database,
  address: string,
  reference: string,
  change: (member: { accountId: number; userId: string; actor: string; keepsOwner: false }) => Promise<Result | string>,
): Promise<Result> {
  const { account_id: accountId } = await requireAccount(database, reference);
  const user = await findUser(database, address);
  const member = user && { accountId, userId: user.user_id, actor: whoami(), keepsOwner: false as const };
  const outcome = member ? await change(member) : 'not_member';
  if (typeof outcome === 'string') throw new Failure(`${address} is not a member of account ${accountId}.`);
  return outcome;
}

function invitationJson(created: CreatedInvitation, link: string, expires: Date): object {
  const { email, role, accountId, memberRole, setsNewPassword } = created;
  return {
    email,
    role,
    account_id: accountId,
    member_role: memberRole,
    link,
    expires_at: expires,
    sets_new_password: setsNewPassword,
  };
}

function describe(created: CreatedInvitation, link: string, expires: Date): string {
  const { email, accountId, memberRole } = created;
  const text = details([
    ['link', link],
    ['for', email],
    ['as', accountId === null ? 'operator' : `${memberRole} of account ${accountId}`],
    ['works until', expires],
  ]);
  return `${text}\n${effectOf(created)} It works once and cannot be shown again.`;
}

function effectOf({ setsPassword, setsNewPassword }: CreatedInvitation): string {
  if (!setsPassword) return 'They are a user already: they sign in to accept it.';
  return setsNewPassword
    ? 'They are a user already: it sets a new password and ends their sessions. Anyone who has it can sign in.'
    : 'It lets them set a password and sign in. Anyone who has it can sign in.';
}

/** Such as `operator`, or `owner of 7, viewer of 9`. */
function accessOf({ role, memberships }: User): string {
  if (role === 'operator') return role;
  return memberships.map((membership) => `${membership.role} of ${membership.account_id}`).join(', ');
}

function tabulate(users: readonly User[]): string {
  return table(users, [
    { head: 'E-MAIL', cell: (user) => user.email, shrinks: true },
    { head: 'NAME', cell: (user) => user.name, shrinks: true },
    { head: 'ROLE', cell: accessOf, shrinks: true },
    { head: 'SINCE', cell: (user) => user.created_at },
    { head: 'LAST SIGNED IN', cell: (user) => user.last_signed_in_at },
  ]);
}
