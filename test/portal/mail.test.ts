import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { createServer, type Server } from 'node:net';
import { join } from 'node:path';
import tls from 'node:tls';
import { afterEach, beforeAll, describe, expect, jest, test } from '@jest/globals';
import { readConfig } from '@orders/portal/config.ts';
import { freePort } from '@orders/test-services/ports.ts';
import { until } from '@orders/test-services/until.ts';
import { closeAfterTest } from '../harness/close-at-end.ts';
import { makeDirectory } from '../harness/directory.ts';
import { type MailServer, startMailServer } from '../harness/mail-server.ts';
import { createPerson, openPortalClient, signIn, type TestPerson } from '../harness/people.ts';
import { describeWith } from '../harness/programs.ts';
import { readMetrics } from '../harness/read-metrics.ts';
import type { RunningPortal } from '../harness/stack.ts';
import { useStack } from '../harness/use-stack.ts';

const { stack, knex, person } = useStack({ person: 'each test' });

afterEach(() => knex('sign_in_attempts').delete());

const startMail = async (options?: Parameters<typeof startMailServer>[0]) =>
  closeAfterTest(await startMailServer(options));
const startPortal = async (settings: Record<string, string>) => closeAfterTest(await stack.portal(settings));

const newPerson = () => createPerson(stack);

async function askFor(portal: RunningPortal, { email }: TestPerson): Promise<void> {
  expect((await openPortalClient(portal).post('/password-resets', { email })).status).toBe(202);
}

async function outcomes(portal: RunningPortal): Promise<Record<string, number>> {
  const samples = (await readMetrics(portal.adminUrl)).get('portal_mails_total')?.samples ?? [];
  return Object.fromEntries(samples.map(({ labels, value }) => [labels.outcome, value]));
}

const untilCounted = (portal: RunningPortal, outcome: string, count = 1) =>
  until(`${count} ${outcome}`, async () => (await outcomes(portal))[outcome] === count);

/** Ends a portal, which makes the remaining attempts at once. */
const endDelays = (portal: RunningPortal) => portal.close();

/** The warnings of a portal about mail. */
const warnings = ({ log }: RunningPortal) => log.lines.filter(({ message }) => /^mail /.test(String(message)));

describe('a mail', () => {
  test('has both languages as text and as HTML that loads nothing, from MAIL_FROM to one recipient', async () => {
    const server = await startMail();
    const portal = await startPortal(server.settings);
    await askFor(portal, person);
    const { parsed, raw, from, to } = await server.mailTo(person.email);
    expect([from, to]).toEqual(['orders@example.test', [person.email]]);
    expect(parsed.from).toEqual({ name: 'Orders', address: 'orders@example.test' });
    expect(parsed.headers).toContainEqual(expect.objectContaining({ key: 'auto-submitted', value: 'auto-generated' }));
    expect(parsed.subject).toBe('Set a new password · تعيين كلمة مرور جديدة');
    const html = String(parsed.html);
    expect(html).toContain('<div lang="en" dir="ltr">');
    expect(html).toContain('<div lang="ar" dir="rtl">');
    const links = [...html.matchAll(/(?:href|src)="([^"]+)"/g)].map(([, link]) => link as string);
    expect(new Set(links)).toHaveProperty('size', 1);
    expect(links[0]).toMatch(new RegExp(`^${portal.url}/new-password#`));
    expect(html).not.toMatch(/<img|<script|<link|url\(|@import/);
    for (const text of ['within 60 minutes', 'خلال 60 دقيقة', links[0] as string]) expect(parsed.text).toContain(text);
    expect(raw).not.toContain(person.name);
    await untilCounted(portal, 'sent');
  });

  test('about a new sign-in names the browser and the system, and contains nothing else of the user agent', async () => {
    const server = await startMail();
    const portal = await startPortal(server.settings);
    const signInAs = async (person: TestPerson, userAgent: string) => {
      const reply = await fetch(`${portal.url}/api/session`, {
        method: 'POST',
        headers: { 'Content-Type': 'application/json', Origin: portal.url, 'User-Agent': userAgent },
        body: JSON.stringify({ email: person.email, password: person.password }),
      });
      expect(reply.status).toBe(204);
      return server.mailTo(person.email);
    };
    const known = await signInAs(
      await newPerson(),
      'Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/131.0.0.0 Safari/537.36',
    );
    expect(known.parsed.subject).toBe('New sign-in · تسجيل دخول جديد');
    expect(known.parsed.text).toContain('Chrome 131 on Windows');
    expect(known.parsed.text).toMatch(/on \d{1,2} \w+ \d{4} at \d{2}:\d{2} GMT\+4/);
    expect(known.parsed.text).toContain('\u2066Chrome 131\u2069 على \u2066Windows\u2069');
    const strange = await signInAs(await newPerson(), 'Call-0800-555-now/1 <b>at once</b>');
    expect(strange.raw).not.toMatch(/0800-555|Call-/);
    expect(strange.parsed.text).toContain('an unknown one');
    expect(strange.parsed.text).toContain('متصفح غير معروف');
  });
});

describe('a mail server that fails', () => {
  test('delays and fails no sign-in, and the mail is tried three times', async () => {
    const server = await startMail();
    const { promise, resolve } = Promise.withResolvers<void>();
    server.respond(async () => {
      await promise;
      return 451;
    });
    const portal = await startPortal(server.settings);
    // The mail is still not answered when the sign-in is.
    expect((await (await signIn(portal, person)).get('/session')).status).toBe(200);
    await server.mailTo(person.email);
    resolve();
    await endDelays(portal);
    expect(server.mailsTo(person.email)).toHaveLength(3);
    expect(warnings(portal)).toEqual([
      expect.objectContaining({ level: 'warn', message: 'mail not sent', kind: 'new_sign_in', smtp_status: 451 }),
    ]);
    expect(portal.log.text()).not.toContain(person.email);
  });

  test('that works again at the second attempt gets the mail', async () => {
    const server = await startMail();
    server.respond(() => (server.received.length === 1 ? 451 : undefined));
    const portal = await startPortal(server.settings);
    await askFor(portal, person);
    await untilCounted(portal, 'sent');
    expect(server.mailsTo(person.email)).toHaveLength(2);
    expect(await outcomes(portal)).toEqual({ sent: 1, failed: 0, dropped: 0 });
    expect(warnings(portal)).toEqual([]);
  });

  test('that refuses a mail for good is not asked again', async () => {
    const server = await startMail();
    server.respond(() => 550);
    const portal = await startPortal(server.settings);
    await askFor(portal, person);
    await untilCounted(portal, 'failed');
    expect(server.mailsTo(person.email)).toHaveLength(1);
    expect(warnings(portal)).toEqual([expect.objectContaining({ kind: 'password_reset', smtp_status: 550 })]);
    expect(portal.log.text()).not.toContain(person.email);
  });

  test('that is not there is logged with the code of the error', async () => {
    const settings = { SMTP_URL: `smtp://127.0.0.1:${await freePort()}`, MAIL_FROM: 'orders@example.test' };
    const portal = await startPortal(settings);
    await askFor(portal, person);
    await endDelays(portal);
    expect(warnings(portal)).toEqual([
      expect.objectContaining({ kind: 'password_reset', error: expect.objectContaining({ code: 'ESOCKET' }) }),
    ]);
  });

  test('that never answers holds a bounded number of links; further ones are dropped, and a notice is still sent', async () => {
    const { promise, resolve } = Promise.withResolvers<void>();
    const server = await startMail();
    server.respond(() => promise.then(() => undefined));
    const portal = await startPortal(server.settings);
    const people = await Promise.all(Array.from({ length: 55 }, newPerson));
    // No attempt reaches its limit of time.
    const unlimited = jest.spyOn(AbortSignal, 'timeout').mockReturnValue(new AbortController().signal);
    while (people.length > 0) {
      await knex('sign_in_attempts').delete();
      await Promise.all(people.splice(0, 11).map((person) => askFor(portal, person)));
    }
    await untilCounted(portal, 'dropped', 5);
    // It never waits for more than four mails at once.
    expect(server.received.length).toBeLessThanOrEqual(4);
    expect(warnings(portal)).toEqual([expect.objectContaining({ message: 'mail dropped: too many wait' })]);
    await signIn(portal, person);
    resolve();
    expect((await server.mailTo(person.email)).parsed.subject).toMatch(/^New sign-in/);
    await untilCounted(portal, 'sent', 51);
    unlimited.mockRestore();
    expect(await outcomes(portal)).toMatchObject({ dropped: 5 });
  });

  test('does not delay the end of the portal: mails that are left count as dropped', async () => {
    const server = await startMail();
    server.respond(() => new Promise(() => {}));
    const portal = await stack.portal({ ...server.settings, DRAIN_TIMEOUT: '200ms' });
    await askFor(portal, person);
    await server.mailTo(person.email);
    await portal.close();
    expect(warnings(portal)).toEqual([
      expect.objectContaining({ message: 'mail not sent', error: expect.objectContaining({ code: 'EABORT' }) }),
    ]);
  });

  test('gets the mails that are under way before the portal ends', async () => {
    const server = await startMail();
    const { promise, resolve } = Promise.withResolvers<void>();
    server.respond(() => (server.received.length === 1 ? promise.then(() => 451) : undefined));
    const portal = await stack.portal(server.settings);
    await askFor(portal, person);
    await server.mailTo(person.email);
    const closing = portal.close();
    await until('the portal has stopped', async () => {
      const isOpen = await fetch(portal.url).then(
        () => true,
        () => false,
      );
      return !isOpen;
    });
    resolve();
    await closing;
    // The second attempt did not wait for its time.
    expect(server.mailsTo(person.email)).toHaveLength(2);
    expect(warnings(portal)).toEqual([]);
  });
});

describeWith('openssl')('TLS to the mail server', () => {
  let key: string;
  let cert: string;
  const trusted = tls.getCACertificates('default');

  beforeAll(async () => {
    const directory = makeDirectory();
    const file = (name: string) => join(directory, name);
    const names = 'subjectAltName=IP:0.0.0.0,IP:127.0.0.1';
    const request = ['req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-noenc', '-days', '2'];
    execFileSync(
      'openssl',
      [...request, '-subj', '/CN=mail', '-addext', names, '-keyout', file('key'), '-out', file('cert')],
      { stdio: 'ignore' },
    );
    key = readFileSync(file('key'), 'utf8');
    cert = readFileSync(file('cert'), 'utf8');
  });
  afterEach(() => tls.setDefaultCACertificates(trusted));

  const trust = () => tls.setDefaultCACertificates([...trusted, cert]);
  /** Another name of this machine than the loopback's. */
  const settingsFor = ({ port, settings }: MailServer, scheme = 'smtp', user = '') => ({
    ...settings,
    SMTP_URL: `${scheme}://${user}0.0.0.0:${port}`,
  });
  const signInServer = (more: object) =>
    startMail({
      key,
      cert,
      authOptional: false,
      disabledCommands: [],
      onAuth: ({ username, password }, _session, done) =>
        username === 'us@er' && password === 'p:w/d'
          ? done(null, { user: username })
          : done(Object.assign(new Error('wrong'), { responseCode: 535 })),
      ...more,
    });

  test('by STARTTLS with a user and the password of SMTP_PASSWORD', async () => {
    trust();
    const server = await signInServer({});
    const settings = settingsFor(server, 'smtp', 'us%40er@');
    const portal = await startPortal({ ...settings, SMTP_PASSWORD: 'p:w/d' });
    await askFor(portal, person);
    expect((await server.mailTo(person.email)).session).toMatchObject({ secure: true, user: 'us@er' });
  });

  test('from the start for smtps, with the password of the URL', async () => {
    trust();
    const server = await signInServer({ secure: true });
    const portal = await startPortal(settingsFor(server, 'smtps', 'us%40er:p%3Aw%2Fd@'));
    await askFor(portal, person);
    expect((await server.mailTo(person.email)).session).toMatchObject({ secure: true, user: 'us@er' });
  });

  test('with a wrong password, nothing is sent, and neither password nor user is logged', async () => {
    trust();
    const server = await signInServer({});
    const portal = await startPortal(settingsFor(server, 'smtp', 'us%40er:a-wrong-one@'));
    await askFor(portal, person);
    await endDelays(portal);
    expect(server.received).toEqual([]);
    expect(warnings(portal)).toEqual([
      expect.objectContaining({ smtp_status: 535, error: expect.objectContaining({ code: 'EAUTH' }) }),
    ]);
    for (const secret of ['a-wrong-one', 'us@er']) expect(portal.log.text()).not.toContain(secret);
  });

  test.each(['smtp', 'smtps'])('%s with a certificate that is not trusted sends nothing', async (scheme) => {
    const server = await startMail({ key, cert, secure: scheme === 'smtps', disabledCommands: [] });
    const portal = await startPortal(settingsFor(server, scheme));
    await askFor(portal, person);
    await endDelays(portal);
    expect(server.received).toEqual([]);
    expect(warnings(portal)).toHaveLength(1);
  });

  test('a server without STARTTLS gets nothing, unless it is on the loopback or SMTP_STARTTLS is off', async () => {
    const server = await startMail();
    const portal = await startPortal(settingsFor(server));
    await askFor(portal, person);
    await endDelays(portal);
    expect(server.received).toEqual([]);
    expect(warnings(portal)).toHaveLength(1);
    const [local, allowed] = [
      await startPortal(server.settings),
      await startPortal({ ...settingsFor(server), SMTP_STARTTLS: 'off' }),
    ];
    for (const other of [local, allowed]) {
      await askFor(other, person);
      expect((await server.mailTo(person.email)).session.secure).toBe(false);
    }
  });

  test('a server that strips STARTTLS from what it offers gets neither password nor mail', async () => {
    const received: string[] = [];
    const server: Server = createServer((socket) => {
      socket.on('error', () => {});
      socket.on('data', (chunk) => {
        received.push(String(chunk));
        socket.write(/^EHLO/.test(String(chunk)) ? '250-here\r\n250 AUTH PLAIN LOGIN\r\n' : '502 no\r\n');
      });
      socket.write('220 here\r\n');
    });
    const port = await freePort();
    await new Promise<void>((resolve) => server.listen(port, '0.0.0.0', resolve));
    closeAfterTest({ close: () => new Promise<void>((resolve) => server.close(() => resolve())) });
    const settings = { SMTP_URL: `smtp://me:my-password@0.0.0.0:${port}`, MAIL_FROM: 'orders@example.test' };
    const portal = await startPortal(settings);
    await askFor(portal, person);
    await endDelays(portal);
    expect(warnings(portal)).toHaveLength(1);
    expect(received.join('')).toContain('EHLO');
    expect(received.join('')).not.toMatch(/AUTH|MAIL FROM/);
  });
});

describe('settings', () => {
  const base = {
    DATABASE_URL: 'postgres://a@b/c',
    QUEUE_URL: 'redis://b',
    SECRETS_KEY: Buffer.alloc(32).toString('base64'),
    PORTAL_URL: 'https://portal.example.com',
    INTAKE_URL: 'https://orders.example.com',
  };
  const read = (settings: Record<string, string>) => readConfig({ ...base, ...settings });
  const from = { MAIL_FROM: 'orders@example.com' };

  test.each([
    ['smtp://mail.example.com', { host: 'mail.example.com', port: 587, isTls: false }],
    ['smtps://mail.example.com/', { host: 'mail.example.com', port: 465, isTls: true }],
    ['smtp://[::1]:25', { host: '::1', port: 25, isTls: false }],
    ['smtp://a%40b:c%3Ad@mail', { host: 'mail', port: 587, isTls: false, auth: { user: 'a@b', pass: 'c:d' } }],
  ])('%s', (SMTP_URL, expected) => {
    expect(read({ SMTP_URL, ...from }).SMTP_URL).toEqual(expected);
  });

  test.each([
    ['no scheme of mail', { SMTP_URL: 'https://mail.example.com', ...from }, /^Configuration: SMTP_URL must be/],
    ['no host', { SMTP_URL: 'smtp://', ...from }, /SMTP_URL must be/],
    ['a path', { SMTP_URL: 'smtp://mail/x', ...from }, /SMTP_URL must be/],
    ['options', { SMTP_URL: 'smtp://mail?tls.rejectUnauthorized=false', ...from }, /SMTP_URL must be/],
    ['a user without a password', { SMTP_URL: 'smtp://me@mail', ...from }, /SMTP_URL must be/],
    ['a password without a user', { SMTP_URL: 'smtp://mail', SMTP_PASSWORD: 'x', ...from }, /SMTP_URL must be/],
    ['no sender', { SMTP_URL: 'smtp://mail' }, /MAIL_FROM is required/],
    ['a sender without a server', from, /MAIL_FROM is set, but SMTP_URL is not/],
    ['two senders', { SMTP_URL: 'smtp://mail', MAIL_FROM: 'a@b.ae, c@d.ae' }, /MAIL_FROM must be one address/],
    ['a line break', { SMTP_URL: 'smtp://mail', MAIL_FROM: 'a\nb <a@b.ae>' }, /MAIL_FROM must be one address/],
    ['half of STARTTLS', { SMTP_URL: 'smtp://mail', SMTP_STARTTLS: 'maybe', ...from }, /SMTP_STARTTLS must be one of/],
  ])('%s is refused in one line without values', (_, settings, message) => {
    expect(() => read(settings as Record<string, string>)).toThrow(message);
  });

  test('the sender may have a name', () => {
    const { MAIL_FROM } = read({ SMTP_URL: 'smtp://mail', MAIL_FROM: 'Orders of Example <Orders@Example.com>' });
    expect(MAIL_FROM).toEqual({ name: 'Orders of Example', address: 'orders@example.com' });
  });
});
