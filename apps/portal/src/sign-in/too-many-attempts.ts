import { Problem } from '@orders/domain/problems.ts';

/**
 * The problem of an exceeded bound.
 *
 * @param msLeft until the window of the bound ends, in milliseconds.
 */
export function tooManyAttempts(msLeft: number, detail?: string): Problem {
  const seconds = Math.max(Math.ceil(msLeft / 1000), 1);
  return new Problem('too_many_attempts', {
    headers: { 'Retry-After': String(seconds) },
    ...(detail !== undefined && { detail }),
  });
}
