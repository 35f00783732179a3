import { isLoopback, type MailEnvironment, type MailSender, type SmtpServer } from './smtp-settings.ts';

/** A mail of one recipient. */
export interface Mail {
  to: string;
  subject: string;
  text: string;
  html: string;
}

/** Sends one mail. Aborting ends the connection; the server may have accepted the mail all the same. */
export type SendMail = (mail: Mail, signal: AbortSignal) => Promise<void>;

/** Max time for each step of SMTP. */
const STEP_TIMEOUT_MS = 10_000;

/** @returns a function that opens a connection for each mail. Its errors have a `code`, and the `responseCode` of the server's reply if any. */
export function createSmtpSender(
  server: SmtpServer,
  from: MailSender,
  startTls: MailEnvironment['SMTP_STARTTLS'],
): SendMail {
  const needsStartTls = !server.isTls && startTls === 'required' && !isLoopback(server.host);
  const options = {
    host: server.host,
    port: server.port,
    secure: server.isTls,
    requireTLS: needsStartTls,
    ignoreTLS: !needsStartTls,
    auth: server.auth,
    connectionTimeout: STEP_TIMEOUT_MS,
    greetingTimeout: STEP_TIMEOUT_MS,
    socketTimeout: STEP_TIMEOUT_MS,
    dnsTimeout: STEP_TIMEOUT_MS,
    disableFileAccess: true,
    disableUrlAccess: true,
  };
  // Loaded by the first mail: most processes send few or none.
  const loadTransport = async () => (await import('nodemailer')).createTransport(options);
  let transport: ReturnType<typeof loadTransport> | undefined;
  return async ({ to, ...content }, signal) => {
    transport ??= loadTransport();
    await (await transport).sendMail({
      ...content,
      from,
      // As an object it is not parsed, so it is one recipient whatever it contains.
      to: { name: '', address: to },
      // Absence notes would answer it otherwise.
      headers: { 'Auto-Submitted': 'auto-generated', 'X-Auto-Response-Suppress': 'All' },
      signal,
    });
  };
}
