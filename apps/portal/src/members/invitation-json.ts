import { parseEmailAddress } from '@orders/domain/email-address.ts';
import Joi from 'joi';

/** For how long the link of an invitation works. */
export const INVITATION_TTL_MS = 7 * 86_400_000;

/** Schema of the e-mail address of a user. */
export const emailAddress = Joi.string()
  .required()
  .custom((text: string) => {
    const address = parseEmailAddress(text);
    if (address === null) throw new Error('no address');
    return address;
  });

/** A new link, which is shown this once. */
export function invitationJson(
  portalUrl: string,
  { email, token, setsNewPassword }: { email: string; token: string; setsNewPassword: boolean },
): object {
  return {
    email,
    link: `${portalUrl}/invitation#${token}`,
    expires_at: new Date(Date.now() + INVITATION_TTL_MS),
    sets_new_password: setsNewPassword,
  };
}
