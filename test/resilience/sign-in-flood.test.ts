import { expect, test } from '@jest/globals';
import { watchHashes } from '../harness/hashes.ts';
import { createPerson, openPortalClient, type PortalClient, signIn } from '../harness/people.ts';
import { useStack } from '../harness/use-stack.ts';

const { stack, knex, portal, person } = useStack({ portal: { PASSWORD_HASH_COST: '15' }, person: true });

const guess = (at: number, network: string) =>
  fetch(`${portal.url}/api/session`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', Origin: portal.url, 'X-Forwarded-For': network },
    body: JSON.stringify({ email: `nobody-${at}@example.test`, password: 'x' }),
  });

async function outcomes(replies: Response[]): Promise<{ wrong_credentials: number; too_many_sign_ins: number }> {
  const counts = { wrong_credentials: 0, too_many_sign_ins: 0 };
  for (const reply of replies) {
    const { code } = (await reply.json()) as { code: keyof typeof counts };
    if (code === 'too_many_sign_ins')
      expect([reply.status, reply.headers.get('Retry-After'), reply.headers.get('Content-Type')]).toEqual([
        429,
        '2',
        'application/problem+json; charset=utf-8',
      ]);
    counts[code] += 1;
  }
  return counts;
}

test.each([
  ['one network', () => '203.0.113.1', 10],
  ['60 networks', (at: number) => `203.${at}.113.1`, 20],
])(
  '60 sign-ins at once from %s: few are checked, two at once, and known devices and sessions go on',
  async (_, networkOf, room) => {
    const { email, password } = person;
    const known = await signIn(portal, person);
    const signedIn = await signIn(portal, person);
    const stop = watchHashes();
    const flood = Promise.all(Array.from({ length: 60 }, (_, at) => guess(at, networkOf(at))));
    const [sameDevice, change, session, page] = await Promise.all([
      known.post('/session', { email, password }),
      signedIn.post('/password', { current_password: 'wrong', new_password: 'camels carry seven lemons' }),
      signedIn.get('/session'),
      fetch(portal.url),
    ]);
    expect([sameDevice.status, change.status, session.status, page.status]).toEqual([204, 401, 200, 200]);
    const counts = await outcomes(await flood);
    expect(counts.wrong_credentials + counts.too_many_sign_ins).toBe(60);
    expect(counts.wrong_credentials).toBeGreaterThanOrEqual(room);
    expect(counts.too_many_sign_ins).toBeGreaterThan(0);
    const { most, total } = stop();
    expect(most).toBe(2);
    // What was refused was not hashed.
    expect(total).toBe(counts.wrong_credentials + 2);
  },
);

test('one user with many known devices has no more room than with one, and other users go on', async () => {
  const { email, password } = await createPerson(stack, person.accountId);
  const known = await signIn(portal, person);
  const devices: PortalClient[] = [];
  for (const _ of ['first', 'second'])
    devices.push(
      ...(await Promise.all(Array.from({ length: 8 }, () => signIn(portal, { ...person, email, password })))),
    );
  const flood = Promise.all(devices.map((device) => device.post('/session', { email, password })));
  const other = await known.post('/session', { email: person.email, password: person.password });
  expect(other.status).toBe(204);
  const codes = (await flood).map(({ status, body }) => body.code ?? status);
  expect(new Set(codes)).toEqual(new Set([204, 'too_many_sign_ins']));
  expect(codes.filter((code) => code === 204).length).toBeGreaterThanOrEqual(10);
});

test('what was refused unchecked does not count as a failure', async () => {
  await knex('sign_in_attempts').delete();
  const counts = await outcomes(await Promise.all(Array.from({ length: 60 }, () => guess(0, '203.0.113.9'))));
  expect(counts.too_many_sign_ins).toBeGreaterThan(0);
  const most = await knex('sign_in_attempts').max('attempts as most').first();
  expect(Number(most?.most)).toBe(60 - counts.too_many_sign_ins);
});

test('a stranger signs in while another network floods', async () => {
  const flood = Promise.all(Array.from({ length: 60 }, (_, at) => guess(at, '203.0.113.2')));
  const { email, password } = person;
  const stranger = openPortalClient(portal);
  expect((await stranger.post('/session', { email, password })).status).toBe(204);
  await flood;
});
