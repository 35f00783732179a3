import { createHash, randomBytes } from 'node:crypto';
import type { Connection } from '../run.ts';
import { forgetSignInAttempts } from './sign-in-attempts.ts';

/** Counted apart: who guesses codes of an app does not keep the user from the recovery codes. */
export type CodeKind = 'codes' | 'recovery codes';
const KINDS: readonly CodeKind[] = ['codes', 'recovery codes'];

const key = (kind: CodeKind, userId: string) => `${kind} of ${userId}`;
const keyOfDay = (kind: CodeKind, userId: string) => `${kind} of a day of ${userId}`;

/** The keys of a user's counters of wrong codes for `takeSignInAttempt`: of a short time, and of a day. */
export function codeCounterKeys(kind: CodeKind, userId: string): { short: string; day: string } {
  return { short: key(kind, userId), day: keyOfDay(kind, userId) };
}

/** Forgets the wrong codes of a user. */
export async function forgetCodeAttempts(connection: Connection, userId: string): Promise<void> {
  for (const kind of KINDS) await forgetSignInAttempts(connection, keyOfDay(kind, userId));
  await forgetRecentCodeAttempts(connection, userId);
}

/**
 * Forgets the wrong codes of a user in a short time, after a new password by a link. Those of a day still count: somebody who reads the
 * user's mail could otherwise guess without end.
 */
export async function forgetRecentCodeAttempts(connection: Connection, userId: string): Promise<void> {
  for (const kind of KINDS) await forgetSignInAttempts(connection, key(kind, userId));
}

/** A token of a one-time link: 256 random bits. */
export function createToken(): string {
  return randomBytes(32).toString('base64url');
}

/** What is stored of a token. */
export function hashToken(token: string): Buffer {
  return createHash('sha256').update(token).digest();
}
