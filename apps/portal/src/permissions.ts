import type { AccountState, MemberRole } from '@orders/database/users/memberships.ts';
import type { Permission, Person } from './context.ts';

/** Who may use a route of the API. */
export interface RouteRule {
  method: 'get' | 'post' | 'put' | 'patch' | 'delete';
  /** Below `/api`, in the form of Express. */
  path: string;
  /** Anybody, everybody with a session, or people with one of these permissions for the account in the path (operators: for all accounts). */
  who: 'public' | 'session' | readonly Permission[];
  /** Only shortly after the user proved who they are. */
  recent?: true;
  /** Also in a session without the second factor that the account or the service requires. */
  withoutSecondFactor?: true;
  /** Not a GET, but it changes nothing, or nothing that a repetition would make twice. */
  repeatable?: true;
}

const ALL: readonly Permission[] = ['read', 'review', 'develop', 'manage', 'operate'];

const OF_ROLE: Record<MemberRole, readonly Permission[]> = {
  viewer: ['read'],
  reviewer: ['read', 'review'],
  developer: ['read', 'develop'],
  owner: ['read', 'review', 'develop', 'manage'],
};

/**
 * What a person may do in an account; nothing if it is not theirs. Members of a suspended account only read. The members of a test account
 * are those of its account, and managed there.
 */
export function permissionsIn(person: Person, account: AccountState): readonly Permission[] {
  const permissions = permissionsOf(person, account);
  return account.testOf === null ? permissions : permissions.filter((permission) => permission !== 'manage');
}

function permissionsOf({ role, memberships }: Person, account: AccountState): readonly Permission[] {
  if (role === 'operator') return ALL;
  const membership = memberships.find(({ accountId }) => accountId === account.accountId);
  if (!membership) return [];
  return account.isSuspended ? ['read'] : OF_ROLE[membership.role];
}

const account = (path: string) => `/accounts/:accountId${path}`;

/**
 * Every route of the API. What is not here is not found. Where two paths of a method match the same request, both have the same rule.
 * `recent` are the routes that give or change access: secrets, keys, addresses that send or receive orders, and people; and those that make
 * many requests to others.
 */
export const ROUTES: readonly RouteRule[] = [
  { method: 'get', path: '/session', who: 'session', withoutSecondFactor: true },
  { method: 'post', path: '/session', who: 'public' },
  // It also succeeds without a session.
  { method: 'delete', path: '/session', who: 'public' },
  { method: 'post', path: '/session/second-factor', who: 'public' },
  // With a session, only for the passkeys of its user.
  { method: 'post', path: '/session/passkey/options', who: 'public' },
  { method: 'post', path: '/session/passkey', who: 'public' },
  { method: 'post', path: '/session/confirm', who: 'session', withoutSecondFactor: true, repeatable: true },
  { method: 'get', path: '/sessions', who: 'session', withoutSecondFactor: true },
  { method: 'delete', path: '/sessions/:sessionId', who: 'session', withoutSecondFactor: true },
  { method: 'post', path: '/password', who: 'session', withoutSecondFactor: true },
  // If the user has a second factor, changes of the factors also need it in the session.
  { method: 'get', path: '/second-factors', who: 'session', withoutSecondFactor: true },
  {
    method: 'post',
    path: '/second-factors/passkeys/options',
    who: 'session',
    recent: true,
    withoutSecondFactor: true,
    repeatable: true,
  },
  { method: 'post', path: '/second-factors/passkeys', who: 'session', recent: true, withoutSecondFactor: true },
  {
    method: 'delete',
    path: '/second-factors/passkeys/:passkeyId',
    who: 'session',
    recent: true,
    withoutSecondFactor: true,
  },
  { method: 'post', path: '/second-factors/totp', who: 'session', recent: true, withoutSecondFactor: true },
  { method: 'post', path: '/second-factors/totp/verify', who: 'session', recent: true, withoutSecondFactor: true },
  { method: 'delete', path: '/second-factors/totp', who: 'session', recent: true, withoutSecondFactor: true },
  { method: 'post', path: '/second-factors/recovery-codes', who: 'session', recent: true, withoutSecondFactor: true },
  { method: 'get', path: '/session/oidc', who: 'public' },
  { method: 'post', path: '/session/oidc/start', who: 'public' },
  { method: 'get', path: '/session/oidc/callback', who: 'public' },
  { method: 'get', path: '/new-sign-ins', who: 'session', withoutSecondFactor: true },
  { method: 'post', path: '/new-sign-ins/:sessionId', who: 'session', withoutSecondFactor: true },
  { method: 'get', path: '/password-resets', who: 'public' },
  { method: 'post', path: '/password-resets', who: 'public' },
  { method: 'post', path: '/password-resets/lookup', who: 'public' },
  { method: 'post', path: '/password-resets/use', who: 'public' },
  { method: 'post', path: '/invitations/lookup', who: 'public' },
  { method: 'post', path: '/invitations/accept', who: 'public' },
  { method: 'post', path: '/invitations/join', who: 'session' },

  { method: 'get', path: account(''), who: ['read'] },
  { method: 'get', path: account('/audit'), who: ['read'] },
  { method: 'get', path: account('/overview'), who: ['read'] },
  { method: 'get', path: account('/overview/review'), who: ['read'] },

  { method: 'put', path: account('/second-factor'), who: ['manage'], recent: true },
  { method: 'get', path: account('/users'), who: ['manage'] },
  { method: 'post', path: account('/users'), who: ['manage'], recent: true },
  { method: 'patch', path: account('/users/:userId'), who: ['manage'], recent: true },
  { method: 'delete', path: account('/users/:userId'), who: ['manage'], recent: true },
  { method: 'get', path: account('/invitations'), who: ['manage'] },
  { method: 'post', path: account('/invitations/:invitationId/again'), who: ['manage'], recent: true },
  { method: 'delete', path: account('/invitations/:invitationId'), who: ['manage'], recent: true },

  { method: 'get', path: account('/orders'), who: ['read'] },
  { method: 'get', path: account('/orders/search'), who: ['read'] },
  { method: 'get', path: account('/orders/ids'), who: ['read'] },
  // It also shows other reviewers who has the list open.
  { method: 'get', path: account('/orders/updates'), who: ['read'] },
  // Repeated, it gives the same order again: an earlier response may name one that is another reviewer's by now.
  { method: 'post', path: account('/orders/next'), who: ['review'], repeatable: true },
  { method: 'get', path: account('/orders/:orderId'), who: ['read'] },
  { method: 'patch', path: account('/orders/:orderId'), who: ['review'] },
  { method: 'post', path: account('/orders/export'), who: ['review'], repeatable: true },
  { method: 'post', path: account('/orders/review'), who: ['review'] },
  { method: 'post', path: account('/orders/review/undo'), who: ['review'] },
  { method: 'post', path: account('/orders/:orderId/recall'), who: ['review'] },
  { method: 'post', path: account('/orders/cancellations/close'), who: ['review'] },
  { method: 'post', path: account('/orders/cancellations/reopen'), who: ['review'] },
  { method: 'post', path: account('/orders/:orderId/notes'), who: ['review'] },
  { method: 'post', path: account('/orders/:orderId/prints'), who: ['review'] },
  { method: 'put', path: account('/orders/:orderId/snooze'), who: ['review'] },
  { method: 'delete', path: account('/orders/:orderId/snooze'), who: ['review'] },
  { method: 'post', path: account('/orders/:orderId/resends/:receiptId'), who: ['review'] },
  { method: 'get', path: account('/review-target'), who: ['read'] },
  { method: 'put', path: account('/review-target'), who: ['develop'] },
  // Each person has views of their own, also viewers.
  { method: 'get', path: account('/views'), who: ['read'] },
  { method: 'post', path: account('/views'), who: ['read'] },
  { method: 'delete', path: account('/views/:viewId'), who: ['read'] },

  { method: 'get', path: account('/receipts'), who: ['read'] },
  { method: 'get', path: account('/receipts/search'), who: ['read'] },
  { method: 'get', path: account('/receipts/:receiptId'), who: ['read'] },
  {
    method: 'post',
    path: account('/receipts/:receiptId/redrive-preview'),
    who: ['review', 'develop'],
    repeatable: true,
  },
  { method: 'post', path: account('/receipts/:receiptId/redrive'), who: ['review', 'develop'] },
  { method: 'get', path: account('/dead-letters/counts'), who: ['read'] },
  { method: 'post', path: account('/dead-letters/redrive-preview'), who: ['review', 'develop'], repeatable: true },
  { method: 'post', path: account('/dead-letters/redrive'), who: ['review', 'develop'] },

  // Repeated, it finds the same account.
  { method: 'post', path: account('/test-account'), who: ['develop'], repeatable: true },
  { method: 'get', path: account('/setup'), who: ['read'] },
  { method: 'get', path: account('/rejected-deliveries'), who: ['read'] },
  { method: 'post', path: account('/test-orders'), who: ['develop'] },
  { method: 'post', path: account('/uploads/preview'), who: ['develop'], repeatable: true },
  // A repetition is replayed.
  { method: 'post', path: account('/uploads/orders'), who: ['develop'], repeatable: true },
  { method: 'post', path: account('/uploads/outcomes'), who: ['develop'], repeatable: true },
  { method: 'get', path: account('/keys'), who: ['read'] },
  { method: 'post', path: account('/keys'), who: ['develop'], recent: true },
  { method: 'patch', path: account('/keys/:keyId'), who: ['develop'], recent: true },
  { method: 'post', path: account('/keys/:keyId/replace'), who: ['develop'], recent: true },
  { method: 'post', path: account('/keys/:keyId/revoke'), who: ['develop'], recent: true },
  { method: 'get', path: account('/signing'), who: ['read'] },
  { method: 'put', path: account('/signing/signed-only'), who: ['develop'], recent: true },
  { method: 'post', path: account('/signing/reveal'), who: ['develop'], recent: true, repeatable: true },
  { method: 'post', path: account('/signing/rotate'), who: ['develop'], recent: true },
  { method: 'get', path: account('/resends'), who: ['read'] },
  { method: 'put', path: account('/resends'), who: ['develop'] },

  { method: 'get', path: account('/sources'), who: ['read'] },
  { method: 'post', path: account('/sources'), who: ['develop'], recent: true },
  { method: 'post', path: account('/sources/preview'), who: ['develop'], repeatable: true },
  { method: 'post', path: account('/sources/:number/secret'), who: ['develop'], recent: true },
  { method: 'post', path: account('/sources/:number/replace-url'), who: ['develop'], recent: true },
  { method: 'put', path: account('/sources/:number/id-prefix'), who: ['develop'], recent: true },
  { method: 'delete', path: account('/sources/:number'), who: ['develop'], recent: true },
  { method: 'put', path: account('/sources/:number/mapping'), who: ['develop'], recent: true },
  { method: 'get', path: account('/sources/:number/mappings'), who: ['read'] },
  { method: 'get', path: account('/sources/:number/life'), who: ['read'] },
  { method: 'get', path: account('/sources/:number/deliveries'), who: ['read'] },
  { method: 'get', path: account('/sources/:number/deliveries/:receiptId'), who: ['read'] },

  { method: 'get', path: account('/events'), who: ['read'] },
  { method: 'put', path: account('/events'), who: ['develop'] },
  { method: 'get', path: account('/endpoints'), who: ['read'] },
  { method: 'post', path: account('/endpoints'), who: ['develop'], recent: true },
  { method: 'post', path: account('/endpoints/:endpointId/secret'), who: ['develop'], recent: true },
  { method: 'post', path: account('/endpoints/:endpointId/pause'), who: ['develop'], recent: true },
  { method: 'post', path: account('/endpoints/:endpointId/enable'), who: ['develop'], recent: true },
  { method: 'delete', path: account('/endpoints/:endpointId'), who: ['develop'], recent: true },
  { method: 'post', path: account('/endpoints/:endpointId/test'), who: ['develop'] },
  { method: 'post', path: account('/endpoints/:endpointId/resend'), who: ['develop'], recent: true },
  { method: 'get', path: account('/endpoints/:endpointId/attempts'), who: ['read'] },

  { method: 'get', path: '/operator/accounts', who: ['operate'] },
  { method: 'post', path: '/operator/accounts', who: ['operate'], recent: true },
  { method: 'patch', path: '/operator/accounts/:accountId', who: ['operate'], recent: true },
  { method: 'get', path: '/operator/users', who: ['operate'] },
  { method: 'post', path: '/operator/users', who: ['operate'], recent: true },
  { method: 'delete', path: '/operator/users/:userId', who: ['operate'], recent: true },
  { method: 'delete', path: '/operator/users/:userId/sessions', who: ['operate'], recent: true },
  { method: 'delete', path: '/operator/users/:userId/second-factors', who: ['operate'], recent: true },
  { method: 'get', path: '/operator/changes', who: ['operate'] },
  { method: 'post', path: '/operator/changes/:changeId/approve', who: ['operate'], recent: true },
  { method: 'delete', path: '/operator/changes/:changeId', who: ['operate'] },
  { method: 'get', path: '/operator/service', who: ['operate'] },
  { method: 'get', path: '/operator/dead', who: ['operate'] },
  { method: 'get', path: '/operator/audit', who: ['operate'] },
];
