import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { copyFile, mkdir, readdir, readFile, symlink } from 'node:fs/promises';
import { basename, join, resolve } from 'node:path';
import { afterEach, expect, test } from '@jest/globals';
import { createEndpoint, listAttempts, requestTest, resendEvents } from '@orders/database/endpoints/endpoints.ts';
import { setEvents } from '@orders/database/events/event-logs.ts';
import { retryDelay } from '@orders/domain/endpoints.ts';
import { createStandardSecret } from '@orders/domain/sources/read-secret.ts';
import { readSenderPages } from '@orders/intake/docs/sender-pages/sender-pages.ts';
import { baseEnvironment } from '@orders/test-services/child.ts';
import { connectionOf } from '@orders/test-services/open-knex.ts';
import { freePort } from '@orders/test-services/ports.ts';
import { until } from '@orders/test-services/until.ts';
import { Webhook } from 'standardwebhooks';
import { makeDirectory } from '../harness/directory.ts';
import { readBlocks } from '../harness/markdown-blocks.ts';
import { describeWith } from '../harness/programs.ts';
import { useStack } from '../harness/use-stack.ts';

const PAGE = readSenderPages().find(({ name }) => name === 'receiving-events')?.markdown ?? '';
const ROOT = resolve(import.meta.dirname, '../..');

/** The programs of the page, by their headings, with the commands that start them. */
const PROGRAMS = readBlocks(PAGE)
  .filter(({ language }) => language === 'bash')
  .map(({ heading, text }) => {
    const shown = readBlocks(PAGE).find((block) => block.language === 'shell' && block.heading === heading);
    const command = /^ENDPOINT_SECRET=whsec_… (.*)$/m.exec(shown?.text ?? '')?.[1] ?? '';
    return { heading, text, command };
  });

test('the page has three programs, and its facts are those of the service', () => {
  expect(PROGRAMS.map(({ heading, command }) => [heading, command])).toEqual([
    ['Node', 'node receive.mjs'],
    ['Python', 'python3 receive.py'],
    ['PHP', 'php -S 127.0.0.1:3000 receive.php'],
  ]);
  const seconds = Array.from({ length: 10 }, (_, failed) => retryDelay(failed + 1, 0.5) / 1000);
  expect(seconds).toEqual([5, 300, 1800, ...[2, 5, 10, 14, 20, 24, 24].map((hours) => hours * 3600)]);
  expect(PAGE.replaceAll(/\s+/g, ' ')).toContain(
    'after 5 seconds, 5 minutes, 30 minutes, and 2, 5, 10, 14, 20 and 24 hours, then once a day',
  );
});

describeWith('php', 'python3')('a program of the page', () => {
  const directory = makeDirectory();
  const children = new Set<ChildProcess>();

  const { stack, knex, api } = useStack({ intake: true, worker: true, notifier: true });

  afterEach(async () => {
    for (const child of children) {
      if (child.exitCode !== null) continue;
      const closed = once(child, 'close');
      child.kill('SIGKILL');
      await closed;
    }
    children.clear();
  });

  /** Pastes the program and starts it with its command, on a free port. */
  async function start({ text, command, heading }: (typeof PROGRAMS)[number], secret: string) {
    const work = join(directory, heading.replaceAll(' ', '-'));
    await mkdir(join(work, 'node_modules/@orders'), { recursive: true });
    await symlink(join(ROOT, 'packages/client'), join(work, 'node_modules/@orders/client'));
    for (const client of ['python/orders.py', 'php/orders.php'])
      await copyFile(join(ROOT, 'packages/client', client), join(work, basename(client)));
    const port = await freePort();
    const env = { ...baseEnvironment(), ENDPOINT_SECRET: secret, PORT: String(port) };
    const child = spawn('bash', ['-c', `${text}\nexec ${command.replace('3000', String(port))}`], {
      cwd: work,
      env,
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    children.add(child);
    let stderr = '';
    child.stderr.on('data', (chunk) => {
      stderr += chunk;
    });
    const url = `http://127.0.0.1:${port}/events`;
    await until('it listens', async () => {
      if (child.exitCode !== null) throw new Error(stderr);
      return fetch(url, { method: 'POST', body: 'x' }).catch(() => null);
    });
    return {
      url,
      stored: () => readdir(join(work, 'events')).catch(() => []),
      read: (name: string) => readFile(join(work, 'events', name), 'utf8'),
    };
  }

  test.each(PROGRAMS)('$heading stores each delivered event once', async (program) => {
    const account = await stack.account();
    await setEvents(connectionOf(knex), account.id, true);
    const options = { accountId: account.id, url: 'http://127.0.0.1:9/', types: null };
    const endpoint = await createEndpoint(connectionOf(knex), stack.secretsKey, options);
    const receiver = await start(program, endpoint.secret);
    await knex('endpoints').where({ account_id: account.id }).update({ url: receiver.url });
    const name = 'طلب-1';
    await api.order(account, { source_order_id: name });
    const [first] = await until('the event is stored', async () => {
      const stored = await receiver.stored();
      return stored.length === 1 && stored;
    });
    const { body } = await api.events(account);
    expect(first).toBe(`${body.events[0].id}.json`);
    expect(JSON.parse(await receiver.read(first as string))).toEqual(body.events[0]);
    await until('it can be sent again', async () => (await resendEvents(connectionOf(knex), endpoint, 1, 1)) === 1);
    await requestTest(connectionOf(knex), endpoint);
    const attempts = await until('three attempts', async () => {
      const listed = await listAttempts(connectionOf(knex), endpoint, { limit: 10 });
      return listed.length >= 3 && listed;
    });
    expect(attempts.map(({ status, error }) => [status, error])).toEqual(Array(3).fill([204, null]));
    expect(await receiver.stored()).toHaveLength(2);
  });

  test.each(PROGRAMS)('$heading rejects what is not authentic, and accepts either secret', async (program) => {
    const [secret, other] = [createStandardSecret(), createStandardSecret()];
    const receiver = await start({ ...program, heading: `${program.heading} rejects` }, secret);
    const body = '{"id":"evt_1","type":"x","timestamp":"2026-11-24T12:00:00.000Z","data":{}}';
    const headersOf = (at = new Date(), secrets = [secret]) => ({
      'webhook-id': 'evt_1',
      'webhook-timestamp': String(Math.floor(at.getTime() / 1000)),
      'webhook-signature': secrets.map((each) => new Webhook(each).sign('evt_1', at, body)).join(' '),
    });
    const post = async (headers: Record<string, string>, text = body) =>
      (await fetch(receiver.url, { method: 'POST', headers, body: text })).status;
    const at = (seconds: number) => new Date(Date.now() + seconds * 1000);
    const { 'webhook-id': _, ...withoutId } = headersOf();
    const rejected = [
      await post(headersOf(new Date(), [other])),
      await post(headersOf(), body.replace('evt_1', 'evt_2')),
      await post({ ...headersOf(), 'webhook-id': 'evt_2' }),
      await post(headersOf(at(-400))),
      await post(headersOf(at(400))),
      await post({ ...headersOf(), 'webhook-timestamp': 'now' }),
      await post({ ...headersOf(), 'webhook-signature': 'v1,' }),
      await post(withoutId),
      await post({}),
    ];
    expect(rejected).toEqual(Array(rejected.length).fill(401));
    expect(await receiver.stored()).toEqual([]);
    expect(await post(headersOf(new Date(), [other, secret]))).toBe(204);
    expect(await receiver.stored()).toEqual(['evt_1.json']);
  });
});
