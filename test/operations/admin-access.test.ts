import { writeFile } from 'node:fs/promises';
import { networkInterfaces } from 'node:os';
import { join } from 'node:path';
import { beforeAll, expect, test } from '@jest/globals';
import { VERSION } from '@orders/runtime/version.ts';
import { makeDirectory } from '../harness/directory.ts';
import { readMetrics } from '../harness/read-metrics.ts';
import { runCommand } from '../harness/run-command.ts';
import { useStack } from '../harness/use-stack.ts';

const TOKEN = 'a-token-of-the-tests';
/** An address of this machine outside the loopback. Callers that connect to it also come from it. */
const [own] = Object.values(networkInterfaces())
  .flat()
  .filter((address) => address?.family === 'IPv4' && !address.internal);
const testElsewhere = own ? test : test.skip;
const directory = makeDirectory();

const { stack } = useStack();

beforeAll(async () => {
  await writeFile(join(directory, 'token'), `${TOKEN}\n`);
});

/** The same port on another address of this machine. */
const by = (adminUrl: string, hostname: string) => Object.assign(new URL(adminUrl), { hostname }).origin;

const silence = async (origin: string, headers: Record<string, string> = {}) => {
  const reply = await fetch(`${origin}/log-level`, { method: 'PUT', body: 'error', headers });
  return { status: reply.status, text: await reply.text() };
};
const levelOf = async (origin: string) => (await (await fetch(`${origin}/log-level`)).json()) as object;

testElsewhere('who is not on the loopback reads, and changes the log level of no app', async () => {
  const apps = [stack.intake, stack.worker, stack.portal, stack.notifier].map((start) =>
    start({ ADMIN_HOST: '0.0.0.0' }),
  );
  for (const { adminUrl } of await Promise.all(apps)) {
    const otherUrl = by(adminUrl, own?.address as string);
    expect((await fetch(`${otherUrl}/metrics`)).status).toBe(200);
    for (const headers of [
      {},
      { Authorization: `Bearer ${TOKEN}` },
      { 'X-Forwarded-For': '127.0.0.1', Forwarded: 'for=127.0.0.1', 'X-Real-IP': '127.0.0.1', Host: 'localhost' },
    ])
      expect(await silence(otherUrl, headers)).toEqual({
        status: 403,
        text: 'ask from the loopback of this process, or set ADMIN_TOKEN and send it\n',
      });
    expect(await levelOf(otherUrl)).toEqual({ level: 'debug' });
  }
});

testElsewhere('with ADMIN_TOKEN set, that token changes the log level from anywhere', async () => {
  const settings = { ADMIN_HOST: '0.0.0.0', ADMIN_TOKEN_FILE: join(directory, 'token') };
  const { adminUrl, log } = await stack.worker(settings);
  const otherUrl = by(adminUrl, own?.address as string);
  for (const headers of [{}, { Authorization: 'Bearer another-token-of-it' }] as Record<string, string>[])
    expect(await silence(otherUrl, headers)).toEqual({
      status: 401,
      text: 'send Authorization: Bearer <ADMIN_TOKEN>, or ask from the loopback of this process\n',
    });
  expect(await levelOf(otherUrl)).toEqual({ level: 'debug' });
  expect((await silence(otherUrl, { Authorization: `Bearer ${TOKEN}` })).status).toBe(200);
  expect(await levelOf(otherUrl)).toEqual({ level: 'error' });
  expect(log.text()).not.toContain(TOKEN);
});

test('callers on the loopback need no token, also with a mapped IPv6 address', async () => {
  const { adminUrl } = await stack.portal({ ADMIN_HOST: '::', ADMIN_TOKEN: TOKEN });
  for (const hostname of ['127.0.0.1', '[::1]'])
    expect(await silence(by(adminUrl, hostname))).toEqual({ status: 200, text: '{"level":"error"}' });
});

test.each(['intake', 'worker', 'portal', 'notifier'] as const)('%s shows its version and revision', async (name) => {
  const app = await stack[name]({ REVISION: '786f4d4' });
  const build = (await readMetrics(app.adminUrl)).get('orders_build_info');
  expect(build?.samples).toMatchObject([{ labels: { version: VERSION, revision: '786f4d4' }, value: 1 }]);
  expect(app.log.lines).toContainEqual(expect.objectContaining({ version: VERSION, revision: '786f4d4' }));
  await app.close();
});

test.each([
  [{ REVISION: '786f4d4-dirty' }, '786f4d4-dirty'],
  [{ REVISION: '' }, 'unknown'],
  [{}, 'unknown'],
  [{ REVISION: 'no {revision}' }, 'unknown'],
])('orders --version with %j', async (env, revision) => {
  expect(await runCommand(['--version'], env)).toEqual({
    code: 0,
    stdout: `${VERSION} (revision ${revision})\n`,
    stderr: '',
  });
});
