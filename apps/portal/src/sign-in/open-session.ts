import { fromNodeHeaders } from 'better-auth/node';
import type { Request } from 'express';
import Joi from 'joi';
import { type Auth, PASSWORD_LENGTH } from './create-auth.ts';

/** Schema of a new password. */
export const newPassword = Joi.string()
  .min(PASSWORD_LENGTH.minPasswordLength)
  .max(PASSWORD_LENGTH.maxPasswordLength)
  .required();

/**
 * Opens a session by a password. An unknown address takes as long as a known one.
 *
 * @returns headers with the session cookie.
 * @throws an error of the library, with a status below 500 if the address or the password is wrong.
 */
export async function openSession(auth: Auth, request: Request, email: string, password: string): Promise<Headers> {
  const { headers } = await auth.api.signInEmail({
    body: { email, password },
    headers: fromNodeHeaders(request.headers),
    returnHeaders: true,
  });
  return headers;
}
