import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { until } from '@orders/test-services/until.ts';
import PostalMime, { type Email } from 'postal-mime';
import { SMTPServer, type SMTPServerOptions, type SMTPServerSession } from 'smtp-server';
import { closeAtEnd } from './close-at-end.ts';

/** A mail as it arrived. */
export interface ReceivedMail {
  /** Of the envelope. */
  from: string | undefined;
  to: string[];
  session: SMTPServerSession;
  parsed: Email;
  raw: string;
}

/** Decides about a mail once it was received: undefined accepts it, a number is the SMTP status that refuses it. */
export type RespondToMail = (mail: ReceivedMail) => number | undefined | Promise<number | undefined>;

export interface MailServer {
  port: number;
  /** Settings of a portal that sends by it. */
  settings: Record<string, string>;
  /** All mails that arrived, accepted or not. */
  received: ReceivedMail[];
  respond(how: RespondToMail): void;
  /** Waits for the newest mail to this address that is at least the `count`-th. */
  mailTo(address: string, count?: number): Promise<ReceivedMail>;
  mailsTo(address: string): ReceivedMail[];
  close(): Promise<void>;
}

/** Starts an SMTP server on this machine that keeps what it received; without TLS and without sign-in by default. */
export async function startMailServer(options: SMTPServerOptions = {}): Promise<MailServer> {
  const received: ReceivedMail[] = [];
  let respond: RespondToMail = () => undefined;
  const server = new SMTPServer({
    authOptional: true,
    disabledCommands: ['STARTTLS', 'AUTH'],
    disableReverseLookup: true,
    closeTimeout: 100,
    ...options,
    async onData(stream, session, done) {
      const chunks: Buffer[] = [];
      for await (const chunk of stream) chunks.push(chunk);
      const raw = Buffer.concat(chunks).toString();
      const to = session.envelope.rcptTo.map(({ address }) => address);
      const { mailFrom } = session.envelope;
      const mail = {
        from: mailFrom ? mailFrom.address : undefined,
        to,
        session,
        parsed: await PostalMime.parse(raw),
        raw,
      };
      received.push(mail);
      const status = await respond(mail);
      done(status === undefined ? null : Object.assign(new Error('refused'), { responseCode: status }));
    },
  });
  // A connection that the portal ends early.
  server.on('error', () => {});
  const listening = server.listen(0, '0.0.0.0');
  await once(listening, 'listening');
  const { port } = listening.address() as AddressInfo;
  const mailsTo = (address: string) => received.filter(({ to }) => to.includes(address));
  return closeAtEnd<MailServer>({
    port,
    settings: { SMTP_URL: `smtp://127.0.0.1:${port}`, MAIL_FROM: 'Orders <orders@example.test>' },
    received,
    respond(how) {
      respond = how;
    },
    mailTo: (address, count = 1) =>
      until(`mail ${count} to ${address}`, async () =>
        mailsTo(address).at(mailsTo(address).length >= count ? -1 : Infinity),
      ),
    mailsTo,
    close: () => new Promise((resolve) => server.close(() => resolve())),
  });
}

/** The one-time link in a mail. */
export function linkIn({ parsed }: ReceivedMail): string {
  const link = /https?:\/\/\S+#\S+/.exec(parsed.text ?? '')?.[0];
  if (!link) throw new Error('the mail has no link');
  return link;
}
