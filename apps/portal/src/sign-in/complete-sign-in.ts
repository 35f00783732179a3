import { inTransaction } from '@orders/database/run.ts';
import { findOpenedSession, type OpenedSession } from '@orders/database/users/sessions.ts';
import { parseSetCookieHeader } from 'better-auth/cookies';
import type { Request, Response } from 'express';
import type { PortalDeps } from '../deps.ts';
import { writeMail } from '../mail/write-mail.ts';
import { forwardCookies } from '../require-session.ts';
import type { SignInStep } from './open-session.ts';
import type { SignInMethod, SignInRecord } from './record-sign-in.ts';
import { askAboutSignIn } from './unconfirmed-sign-ins.ts';

type Deps = Pick<PortalDeps, 'database' | 'config' | 'mails' | 'devices'> & { record: SignInRecord };

interface HowSignedIn {
  method: SignInMethod;
  /** By a one-time link: the user knows that the device is new, and is not asked about it. */
  byLink?: true;
}

/** Records a sign-in, tells the user if the device is unknown, and sets the cookies of session and device. */
export async function completeSession(
  { database, config, mails, devices, record }: Deps,
  request: Request,
  response: Response,
  { cookies, method, byLink }: HowSignedIn & { cookies: Headers },
): Promise<void> {
  const session = await findOpenedSession(database, sessionTokenIn(cookies));
  if (!session) throw new Error('the session ended at once');
  await inTransaction(database, (transaction) => record.signedIn(transaction, request, session.email, method));
  if (!byLink && !(await devices.isKnownDevice(request, session.userId)))
    await noticeSignIn({ database, config, mails }, session);
  forwardCookies(cookies, response);
  await devices.rememberDevice(response, session.userId);
}

/** Answers a sign-in with 204 and a session, or asks for the second step, with 200 and the possible ones. */
export async function completeSignIn(
  deps: Deps,
  request: Request,
  response: Response,
  { secondStep, ...opened }: SignInStep & HowSignedIn,
): Promise<void> {
  if (secondStep !== null) {
    forwardCookies(opened.cookies, response);
    response.json({ second_step: secondStep });
    return;
  }
  await completeSession(deps, request, response, opened);
  response.status(204).end();
}

/** The token of the session; the value of its cookie is the token, a dot and a signature. */
function sessionTokenIn(cookies: Headers): string {
  for (const cookie of cookies.getSetCookie())
    for (const [name, { value }] of parseSetCookieHeader(cookie))
      if (name.endsWith('.session_token')) return decodeURIComponent(value).split('.')[0] ?? '';
  throw new Error('no session was opened');
}

/** After a sign-in from an unknown device: stores a question about it, which the portal asks the user, and mails them. */
async function noticeSignIn(
  { database, config, mails }: Pick<PortalDeps, 'database' | 'config' | 'mails'>,
  session: OpenedSession,
): Promise<void> {
  await inTransaction(database, (transaction) => askAboutSignIn(transaction, session));
  const { email, userAgent, at } = session;
  mails.send('new_sign_in', () => writeMail(email, { kind: 'new_sign_in', at, userAgent }, config.PORTAL_URL));
}
