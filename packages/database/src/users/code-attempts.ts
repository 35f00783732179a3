import type { Knex } from 'knex';
import { forgetSignInAttempts } from './sign-in-attempts.ts';

const COUNTERS = ['codes', 'codes of a day'] as const;

/** A counter of a user's wrong codes. */
export type CodeCounter = (typeof COUNTERS)[number];

/** The key of a counter for `takeSignInAttempt`. */
export function codeCounterKey(counter: CodeCounter, userId: string): string {
  return `${counter} of ${userId}`;
}

/** Forgets the wrong codes of a user. */
export async function forgetCodeAttempts(db: Knex, userId: string): Promise<void> {
  for (const counter of COUNTERS) await forgetSignInAttempts(db, codeCounterKey(counter, userId));
}
