import { beforeEach, expect, jest, test } from '@jest/globals';
import { createInvitation } from '@orders/database/users/invitations.ts';
import { createPerson, type TestPerson } from '../harness/people.ts';
import { useStack } from '../harness/use-stack.ts';

let person: TestPerson;

const { stack, knex, db, portal } = useStack({ portal: true });

beforeEach(async () => {
  await attempts().delete();
  person = await createPerson(stack);
});

const attempts = () => knex('sign_in_attempts');

interface Sent {
  network?: string;
  cookie?: string;
}

async function send(path: string, body: object, { network = '198.51.100.1', cookie = '' }: Sent = {}, at = portal) {
  const reply = await fetch(`${at.url}/api${path}`, {
    method: 'POST',
    headers: {
      'Content-Type': 'application/json',
      Origin: at.url,
      'X-Forwarded-For': network,
      ...(cookie && { Cookie: cookie }),
    },
    body: JSON.stringify(body),
  });
  const cookies = reply.headers.getSetCookie().map((text) => text.split(';')[0] as string);
  return { status: reply.status, retryAfter: Number(reply.headers.get('Retry-After')), cookies };
}

const attempt = (password: string, sent: Sent = {}, { email }: { email: string } = person) =>
  send('/session', { email, password }, sent);

const deviceOf = (cookies: string[]) => cookies.find((cookie) => cookie.includes('device_')) as string;

/** Signs in and returns the cookie of the device. */
async function rememberedDevice(of: TestPerson = person): Promise<string> {
  const { status, cookies } = await send('/session', { email: of.email, password: of.password });
  expect(status).toBe(204);
  return deviceOf(cookies);
}

/** As many failures from other networks as lock the address of the person for all strangers. */
async function lockAddress(): Promise<void> {
  await attempt('x', { network: '203.0.113.1' });
  await attempts().update({ attempts: 100 });
  expect((await attempt(person.password, { network: '192.0.2.1' })).status).toBe(429);
}

/** Whether the user is asked about the newest session, as its device was unknown. */
async function isAsked(): Promise<boolean> {
  const newest = await knex('user_sessions').orderBy('created_at', 'desc').first('id');
  return (await knex('unconfirmed_sign_ins').where({ session_id: newest?.id })).length > 0;
}

test('strangers lock out strangers, never a device from which the user signed in before', async () => {
  const device = await rememberedDevice();
  expect(await isAsked()).toBe(true);
  await lockAddress();
  const known = await attempt(person.password, { network: '192.0.2.1', cookie: device });
  expect(known.status).toBe(204);
  expect(await isAsked()).toBe(false);
  expect((await attempt(person.password, { network: '192.0.2.2' })).status).toBe(429);
});

test('failures in the own network do not lock the known device out either', async () => {
  const device = await rememberedDevice();
  await attempt('x');
  await attempts().update({ attempts: 300 });
  expect((await attempt(person.password)).status).toBe(429);
  expect((await attempt(person.password, { cookie: device })).status).toBe(204);
});

test('after ten failures a known device is treated as unknown, until the end of the window', async () => {
  const device = await rememberedDevice();
  await attempts().delete();
  for (let guess = 0; guess < 10; guess += 1) expect((await attempt('x', { cookie: device })).status).toBe(401);
  // One counts the failures of the device, two the entries of the audit trail: none those of strangers.
  expect(await attempts()).toHaveLength(3);
  for (let guess = 0; guess < 10; guess += 1) expect((await attempt('x', { cookie: device })).status).toBe(401);
  const refused = await attempt(person.password, { cookie: device });
  expect([refused.status, refused.retryAfter > 0]).toEqual([429, true]);
  await attempts().update({ window_to: new Date(0) });
  expect((await attempt(person.password, { cookie: device })).status).toBe(204);
});

test('a success removes the failures of the device', async () => {
  const device = await rememberedDevice();
  for (const _ of [1, 2, 3]) {
    for (let guess = 0; guess < 5; guess += 1) expect((await attempt('x', { cookie: device })).status).toBe(401);
    expect((await attempt(person.password, { cookie: device })).status).toBe(204);
  }
});

test('the cookie counts for its user only, and not if it was changed, is too old, or is signed with another key', async () => {
  const device = await rememberedDevice();
  const other = await createPerson(stack);
  const others = await rememberedDevice(other);
  const [name, value] = device.split('=') as [string, string];
  const parts = value.split('.');
  const ageing = [...parts.slice(0, 3), String(Date.now() + 1), parts[4]].join('.');
  const elsewhere = await stack.portal({ SECRETS_KEY: Buffer.alloc(32, 1).toString('base64') });
  const foreign = await send('/session', { email: person.email, password: person.password }, {}, elsewhere);
  await elsewhere.close();
  await lockAddress();
  const invalid = [
    others,
    `${name}=${others.split('=')[1]}`,
    `${name}=${ageing}`,
    `${name}=${parts.slice(0, 4).join('.')}`,
    `${name}=`,
    `${name}=${'.'.repeat(2000)}`,
    deviceOf(foreign.cookies),
  ];
  for (const cookie of invalid)
    expect((await attempt(person.password, { network: '192.0.2.1', cookie })).status).toBe(429);
  const later = jest.spyOn(Date, 'now').mockReturnValue(Date.now() + 91 * 86_400_000);
  const old = await attempt(person.password, { network: '192.0.2.1', cookie: device });
  later.mockRestore();
  expect(old.status).toBe(429);
  // Several users of one browser are all known.
  expect((await attempt(person.password, { network: '192.0.2.1', cookie: `${others}; ${device}` })).status).toBe(204);
});

test('a new password makes the known devices strangers, except the one where it was set', async () => {
  const [here, there] = [await attempt(person.password), await rememberedDevice()];
  const body = { current_password: person.password, new_password: 'camels carry seven lemons' };
  const changed = await send('/password', body, { cookie: here.cookies.join('; ') });
  expect(changed.status).toBe(204);
  expect(await isAsked()).toBe(false);
  await lockAddress();
  expect((await attempt(body.new_password, { network: '192.0.2.1', cookie: there })).status).toBe(429);
  const device = deviceOf(changed.cookies);
  expect((await attempt(body.new_password, { network: '192.0.2.1', cookie: device })).status).toBe(204);
});

test('a link that sets a new password makes all known devices strangers, except its own browser', async () => {
  const device = await rememberedDevice();
  const token = await createInvitation(db, { ...person, role: 'account_holder' }, 'test', 3_600_000);
  const password = 'camels carry seven lemons';
  const accepted = await send('/invitations/accept', { token, name: person.name, password }, { cookie: device });
  expect(accepted.status).toBe(204);
  // By the link, the user uses this browser on purpose.
  expect(await isAsked()).toBe(false);
  await lockAddress();
  expect((await attempt(password, { network: '192.0.2.1', cookie: device })).status).toBe(429);
  const cookie = deviceOf(accepted.cookies);
  expect((await attempt(password, { network: '192.0.2.1', cookie })).status).toBe(204);
});

test('the session lets its user change the password while strangers lock the address', async () => {
  const { cookies } = await attempt(person.password);
  const session = cookies.find((cookie) => cookie.includes('session_token')) as string;
  await lockAddress();
  const body = { current_password: person.password, new_password: 'camels carry seven lemons' };
  expect((await send('/password', { ...body, current_password: 'x' }, { cookie: session })).status).toBe(401);
  expect((await send('/password', body, { cookie: session })).status).toBe(204);
});

test.each([
  ['16 networks of /64 in one /56', 20, (at: number) => `2001:db8:0:12${at.toString(16).padStart(2, '0')}::1`],
  ['networks of /56 in one /48', 40, (at: number) => `2001:db8:0:${at.toString(16).padStart(2, '0')}00::1`],
  ['addresses in one /24', 40, (at: number) => `198.51.100.${at + 1}`],
])(
  'guesses for one address from %s end after %s failures, and other networks are not locked out',
  async (_, max, networkOf) => {
    expect((await attempt('x', { network: networkOf(0) })).status).toBe(401);
    await attempts().update({ attempts: max - 1 });
    expect((await attempt('x', { network: networkOf(1) })).status).toBe(401);
    expect((await attempt(person.password, { network: networkOf(2) })).status).toBe(429);
    expect((await attempt(person.password, { network: '192.0.2.1' })).status).toBe(204);
  },
);
