import type { PortalDeps } from '../deps.ts';
import type { MailKind } from './mail-texts.ts';
import { writeMail } from './write-mail.ts';

/** A change that its user is told about by mail. */
export type SecurityChange = Extract<MailKind, 'password_changed' | 'second_factor_added' | 'second_factor_removed'>;

/** Tells a user by mail that their way to sign in was changed. Call it after the commit of the change; it returns at once and never fails. */
export function notifySecurityChange(
  { mails, config }: Pick<PortalDeps, 'mails' | 'config'>,
  user: { email: string },
  kind: SecurityChange,
): void {
  const at = new Date();
  mails.send(kind, () => writeMail(user.email, { kind, at }, config.PORTAL_URL));
}
