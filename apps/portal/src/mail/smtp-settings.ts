import { isIP } from 'node:net';
import { parseEmailAddress } from '@orders/domain/email-address.ts';
import Joi from 'joi';

/** The mail server of `SMTP_URL`. */
export interface SmtpServer {
  host: string;
  port: number;
  /** TLS from the start (`smtps://`); otherwise STARTTLS. */
  isTls: boolean;
  auth?: { user: string; pass: string };
}

/** Settings of mail. Without `SMTP_URL` the portal sends none. */
export interface MailEnvironment {
  SMTP_URL?: SmtpServer;
  /** Already part of `SMTP_URL`. */
  SMTP_PASSWORD?: string;
  /** With `off`, mails and the password cross the network unencrypted. A server on the loopback interface needs no TLS. */
  SMTP_STARTTLS: 'required' | 'off';
  MAIL_FROM?: MailSender;
}

/** The sender of all mails. */
export interface MailSender {
  name: string;
  address: string;
}

const DEFAULT_PORTS = { 'smtp:': 587, 'smtps:': 465 };

/** @throws {Error} when it is anything else than a scheme, a host, and at most a port and credentials. */
function parseServer(text: string, password: string | undefined): SmtpServer {
  const url = new URL(text);
  const port = DEFAULT_PORTS[url.protocol as keyof typeof DEFAULT_PORTS];
  if (port === undefined || !url.hostname || url.search || url.hash || !['', '/'].includes(url.pathname))
    throw new Error('not a mail server');
  const user = decodeURIComponent(url.username);
  const pass = decodeURIComponent(url.password) || password;
  if ((user === '') !== (pass === undefined))
    throw new Error('a user without a password, or a password without a user');
  return {
    host: url.hostname.replace(/^\[|\]$/g, ''),
    port: Number(url.port) || port,
    isTls: url.protocol === 'smtps:',
    ...(pass !== undefined && { auth: { user, pass } }),
  };
}

/** @throws {Error} when it is not exactly one address, with or without a name. */
function parseSender(text: string): MailSender {
  const [, name = '', bracketed] = /^([^<>@,;:"\\\p{Cc}]*)<([^<>]+)>$/u.exec(text.trim()) ?? [];
  const address = parseEmailAddress(bracketed ?? text);
  if (address === null) throw new Error('not an address');
  return { name: name.trim(), address };
}

const needsServer = Joi.forbidden().messages({ 'any.unknown': '{{#label}} is set, but SMTP_URL is not' });

/** `SMTP_PASSWORD` is added to `SMTP_URL`. */
export const mailEnvironment: Record<keyof MailEnvironment, Joi.Schema> = {
  SMTP_PASSWORD: Joi.string(),
  SMTP_URL: Joi.string()
    .custom((text: string, { prefs }) => parseServer(text, prefs.context?.SMTP_PASSWORD))
    .message(
      '{{#label}} must be smtp:// or smtps:// and a host, at most with a port and with a user and a password (or SMTP_PASSWORD), percent-encoded',
    ),
  SMTP_STARTTLS: Joi.string().valid('required', 'off').default('required'),
  MAIL_FROM: Joi.string()
    .custom(parseSender)
    .message('{{#label}} must be one address such as orders@example.com or Orders <orders@example.com>')
    .when('SMTP_URL', {
      is: Joi.exist(),
      // biome-ignore lint/suspicious/noThenProperty: Joi's name.
      then: Joi.required(),
      otherwise: needsServer,
    }),
};

/** Whether the host is this machine, so that nothing crosses a network. */
export function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '::1' || (isIP(host) === 4 && host.startsWith('127.'));
}
