import type { OpenedSession } from '@orders/database/users/sessions.ts';
import { askAboutSignIn } from './unconfirmed-sign-ins.ts';
import type { PortalDeps } from '../deps.ts';
import { writeMail } from '../mail/write-mail.ts';

/** After a sign-in from an unknown device: stores a question about it, which the portal asks the user, and mails them. */
export async function noticeSignIn(
  { knex, config, mails }: Pick<PortalDeps, 'knex' | 'config' | 'mails'>,
  session: OpenedSession,
): Promise<void> {
  await knex.transaction((trx) => askAboutSignIn(trx, session));
  const { email, userAgent, at } = session;
  mails.send('new_sign_in', () => writeMail(email, { kind: 'new_sign_in', at, userAgent }, config.PORTAL_URL));
}
