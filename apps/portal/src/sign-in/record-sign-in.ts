import { createHmac, hkdfSync } from 'node:crypto';
import type { Connection } from '@orders/database/run.ts';
import { listAccountIds } from '@orders/database/users/memberships.ts';
import { findUser, noteSignIn, recordOfUser } from '@orders/database/users/users.ts';
import type { Request } from 'express';
import { recordAuditWithin } from '../audit/limited-audit.ts';
import type { Person } from '../context.ts';
import type { PortalDeps } from '../deps.ts';
import { digestOf, networksOf } from './attempt-bounds.ts';

const WINDOW_MS = 15 * 60_000;
/**
 * Max entries of an action within the window, from one network and from all. Entries about users and about other addresses are counted
 * separately. So an outsider can neither fill the table nor suppress entries about users.
 */
const MAX_ENTRIES = { fromNetwork: 10, fromAll: 200 };

/** Which bound of sign-in throttling was exceeded. */
export type LockOut = 'network' | 'emailFromNetwork' | 'email';

/** The last step of a sign-in; `password` means without a second factor. */
export type SignInMethod = 'password' | 'passkey' | 'code' | 'recovery_code' | 'identity_provider';

/** The audit entries of signing in and out: one for each account of the person, for the owners of that account. */
export interface SignInRecord {
  /** Also stores the time of the sign-in. */
  signedIn(transaction: Connection, request: Request, email: string, method?: SignInMethod): Promise<void>;
  signedOut(person: Person): Promise<void>;
  failed(request: Request, email: string, details?: object | null): Promise<void>;
  /** Call it for the first attempt that is rejected. */
  lockedOut(request: Request, email: string, bound: LockOut): Promise<void>;
  /** A wrong code of an authenticator app, or a wrong recovery code. */
  codeFailed(request: Request, email: string): Promise<void>;
  /** Call it for the first code that is rejected unchecked. */
  codesLocked(request: Request, email: string): Promise<void>;
  recoveryCodeUsed(email: string): Promise<void>;
  /** The keyed hash of the client's network. */
  networkOf(request: Request): string;
  /** A link for a new password was requested for a user. @param network from `networkOf`. */
  resetRequested(transaction: Connection, network: string, email: string): Promise<void>;
  /** A link for a new password was requested for an address of nobody. */
  resetOfNobody(network: string, email: string): Promise<void>;
  /** A user has set a new password by a mailed link. */
  passwordReset(transaction: Connection, request: Request, email: string): Promise<void>;
}

/** Entries have a network, and an e-mail address that is no user's, as a hash under a key that is derived from `SECRETS_KEY`. */
export function createSignInRecord({ database, config }: Pick<PortalDeps, 'database' | 'config'>): SignInRecord {
  const key = Buffer.from(hkdfSync('sha256', config.SECRETS_KEY, '', 'audit of sign-ins', 32));
  // 64 bits tell networks apart.
  const hash = (kind: string, text: string) =>
    createHmac('sha256', key).update(`${kind}\n${text}`).digest('hex').slice(0, 16);
  const networkHash = (request: Request) => hash('network', networksOf(request.ip ?? '').narrow);

  async function recordRejected(
    network: string,
    email: string,
    { action, details = null, maxFromNetwork }: { action: string; details?: object | null; maxFromNetwork?: number },
  ): Promise<void> {
    const user = await findUser(database, email);
    const accountIds = await listAccountIds(database, email);
    const actor = `network:${network}`;
    const subject = user ? `user:${user.email}` : `email:${hash('email', email)}`;
    const counted = [action, user ? 'user' : 'nobody'];
    const limitOf = (max: number, ...parts: string[]) => ({
      key: digestOf('audit', ...counted, ...parts),
      max,
      windowMs: WINDOW_MS,
    });
    const limits = [
      ...(maxFromNetwork === undefined ? [] : [limitOf(maxFromNetwork, actor)]),
      limitOf(MAX_ENTRIES.fromAll),
    ];
    const entry = { actor, action, subject, details: details as Record<string, unknown> | null };
    const entries = accountIds.map((accountId) => ({ ...entry, accountId }));
    await recordAuditWithin(database, limits, entries, digestOf('audit missed', ...counted, ...accountIds.map(String)));
  }

  return {
    async signedIn(transaction, request, email, method = 'password') {
      await noteSignIn(transaction, email);
      const how = method === 'identity_provider' ? { method } : method !== 'password' && { second_factor: method };
      const details = { network: networkHash(request), ...how };
      await recordOfUser(transaction, email, { actor: email, action: 'signed_in', details });
    },
    signedOut: ({ email }) => recordOfUser(database, email, { actor: email, action: 'signed_out' }),
    failed: (request, email, details = null) =>
      recordRejected(networkHash(request), email, {
        action: 'sign_in_failed',
        details,
        maxFromNetwork: MAX_ENTRIES.fromNetwork,
      }),
    lockedOut: (request, email, bound) =>
      recordRejected(networkHash(request), email, { action: 'sign_in_locked', details: { locked: bound } }),
    codeFailed: (request, email) =>
      recordRejected(networkHash(request), email, {
        action: 'second_factor_failed',
        maxFromNetwork: MAX_ENTRIES.fromNetwork,
      }),
    codesLocked: (request, email) => recordRejected(networkHash(request), email, { action: 'second_factor_locked' }),
    recoveryCodeUsed: (email) => recordOfUser(database, email, { actor: email, action: 'recovery_code_used' }),
    networkOf: networkHash,
    resetRequested: (transaction, network, email) =>
      recordOfUser(transaction, email, { actor: `network:${network}`, action: 'password_reset_requested' }),
    resetOfNobody: (network, email) =>
      recordRejected(network, email, {
        action: 'password_reset_requested',
        maxFromNetwork: MAX_ENTRIES.fromNetwork,
      }),
    passwordReset(transaction, request, email) {
      const details = { network: networkHash(request) };
      return recordOfUser(transaction, email, { actor: email, action: 'password_reset', details });
    },
  };
}
