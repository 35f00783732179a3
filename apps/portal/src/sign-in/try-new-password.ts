import type { Connection } from '@orders/database/run.ts';
import { takeSignInAttempt } from '@orders/database/users/sign-in-attempts.ts';
import { digestOf, tooManyAttempts } from './attempt-bounds.ts';
import type { PasswordOwner } from './check-new-password.ts';

const WINDOW_MS = 15 * 60_000;
/** Max new passwords that a user tries within the window, because an estimate holds up all other requests for up to 75 ms. */
const MAX_TRIES = 20;

/**
 * Like `checkNewPassword`, for a limited number of passwords. Call it once the user has proved who they are: by a link, or by the current
 * password.
 *
 * @throws {Problem} `invalid_request`, or `too_many_attempts`.
 */
export async function tryNewPassword(
  connection: Connection,
  password: string,
  owner: PasswordOwner,
  pointer?: string,
): Promise<void> {
  const { attempts, msLeft } = await takeSignInAttempt(connection, digestOf('new password', owner.email), WINDOW_MS);
  if (attempts > MAX_TRIES)
    throw tooManyAttempts(msLeft, 'Too many new passwords were tried. Retry after the time in Retry-After.');
  // Loaded by the first new password: its dictionary takes 10 MB.
  const { checkNewPassword } = await import('./check-new-password.ts');
  checkNewPassword(password, owner, pointer);
}
