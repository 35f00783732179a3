import { fromNodeHeaders } from 'better-auth/node';
import type { Request } from 'express';
import Joi from 'joi';
import { type Auth, PASSWORD_LENGTH } from './create-auth.ts';

/** A password that is to be set. */
export const newPassword = Joi.string()
  .min(PASSWORD_LENGTH.minPasswordLength)
  .max(PASSWORD_LENGTH.maxPasswordLength)
  .required();

/**
 * Opens a session by a password; it takes as long for an address that nobody has.
 *
 * @returns headers with its cookie.
 * @throws an error of the library, below 500 when the address or the password is wrong.
 */
export async function openSession(auth: Auth, request: Request, email: string, password: string): Promise<Headers> {
  const { headers } = await auth.api.signInEmail({
    body: { email, password },
    headers: fromNodeHeaders(request.headers),
    returnHeaders: true,
  });
  return headers;
}
