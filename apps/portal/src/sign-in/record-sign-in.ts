import { createHmac, hkdfSync } from 'node:crypto';
import { findUser, noteSignIn, recordAudit, recordAuditWithin } from '@orders/database';
import type { Request } from 'express';
import type { Knex } from 'knex';
import type { Person } from '../context.ts';
import type { PortalDeps } from '../deps.ts';
import { digestOf, networkOf } from './counter-keys.ts';

const WINDOW_MS = 15 * 60_000;
/**
 * Max entries within the window: failures from one network, and failures, and lock-outs, from all. E-mail addresses of users and others are
 * counted apart. So an outsider cannot fill the table, nor hide what concerns users behind what does not.
 */
const MAX_ENTRIES = { fromNetwork: 10, fromAll: 200 };

/** Which bound of sign-in throttling was exceeded. */
export type LockOut = 'network' | 'emailFromNetwork' | 'email';

/** The audit entries of signing in and out. */
export interface SignInRecord {
  /** Also stores the time of the sign-in. */
  signedIn(trx: Knex, request: Request, email: string): Promise<void>;
  signedOut(person: Person): Promise<void>;
  failed(request: Request, email: string): Promise<void>;
  /** For the first attempt that is refused. */
  lockedOut(request: Request, email: string, bound: LockOut): Promise<void>;
}

/** Entries have a network, and an e-mail address that is no user's, as a hash under a key that is derived from `SECRETS_KEY`. */
export function createSignInRecord({ knex, config }: Pick<PortalDeps, 'knex' | 'config'>): SignInRecord {
  const key = Buffer.from(hkdfSync('sha256', config.SECRETS_KEY, '', 'audit of sign-ins', 32));
  // 64 bits tell networks apart.
  const hash = (kind: string, text: string) =>
    createHmac('sha256', key).update(`${kind}\n${text}`).digest('hex').slice(0, 16);
  const networkHash = (request: Request) => hash('network', networkOf(request.ip ?? ''));

  async function recordRefused(
    request: Request,
    email: string,
    { action, details = null, maxFromNetwork }: { action: string; details?: object | null; maxFromNetwork?: number },
  ): Promise<void> {
    const user = await findUser(knex, email);
    const [accountId, actor] = [user?.account_id ?? null, `network:${networkHash(request)}`];
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
    const entry = { accountId, actor, action, subject, details: details as Record<string, unknown> | null };
    await recordAuditWithin(knex, limits, entry, digestOf('audit missed', ...counted, String(accountId)));
  }

  return {
    async signedIn(trx, request, email) {
      const accountId = await noteSignIn(trx, email);
      const details = { network: networkHash(request) };
      await recordAudit(trx, { accountId, actor: email, action: 'signed_in', subject: `user:${email}`, details });
    },
    async signedOut({ email, accountId }) {
      await recordAudit(knex, { accountId, actor: email, action: 'signed_out', subject: `user:${email}` });
    },
    failed: (request, email) =>
      recordRefused(request, email, { action: 'sign_in_failed', maxFromNetwork: MAX_ENTRIES.fromNetwork }),
    lockedOut: (request, email, bound) =>
      recordRefused(request, email, { action: 'sign_in_locked', details: { locked: bound } }),
  };
}
