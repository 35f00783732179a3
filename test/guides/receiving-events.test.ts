import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { copyFile, mkdir, readdir, readFile, rm, symlink } from 'node:fs/promises';
import { basename, join, resolve } from 'node:path';
import { afterEach, expect, test } from '@jest/globals';
import { createEndpoint, listAttempts, requestTest, resendEvents } from '@orders/database/endpoints/endpoints.ts';
import { setEvents } from '@orders/database/events/event-logs.ts';
import { retryDelay } from '@orders/domain/endpoints.ts';
import { createStandardSecret } from '@orders/domain/sources/authenticate-delivery.ts';
import { readSenderPages } from '@orders/intake/docs/sender-pages/sender-pages.ts';
import { baseEnvironment } from '@orders/test-services/child.ts';
import { connectionOf } from '@orders/test-services/open-knex.ts';
import { freePort } from '@orders/test-services/ports.ts';
import { until } from '@orders/test-services/until.ts';
import { Webhook } from 'standardwebhooks';
import { makeDirectory } from '../harness/directory.ts';
import { readBlocks } from '../harness/markdown-blocks.ts';
import { describeWith } from '../harness/programs.ts';
import { MAIN } from '../harness/run-command.ts';
import type { TestAccount } from '../harness/stack.ts';
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
      await kill(child);
    }
    children.clear();
  });

  async function kill(child: ChildProcess): Promise<void> {
    const closed = once(child, 'close');
    child.kill('SIGKILL');
    await closed;
    children.delete(child);
  }

  /** Makes a directory and a port for the program, which `start` pastes and starts with its command. */
  async function install({ text, command, heading }: (typeof PROGRAMS)[number]) {
    const work = join(directory, heading.replaceAll(' ', '-'));
    await mkdir(join(work, 'node_modules/@orders'), { recursive: true });
    await symlink(join(ROOT, 'packages/client'), join(work, 'node_modules/@orders/client'));
    for (const client of ['python/orders.py', 'php/orders.php'])
      await copyFile(join(ROOT, 'packages/client', client), join(work, basename(client)));
    const port = await freePort();
    const url = `http://127.0.0.1:${port}/events`;
    let child: ChildProcess;
    return {
      url,
      async start(secret: string) {
        const env = { ...baseEnvironment(), ENDPOINT_SECRET: secret, PORT: String(port) };
        const started = spawn('bash', ['-c', `${text}\nexec ${command.replace('3000', String(port))}`], {
          cwd: work,
          env,
          stdio: ['ignore', 'ignore', 'pipe'],
        });
        child = started;
        children.add(child);
        let stderr = '';
        started.stderr.on('data', (chunk) => {
          stderr += chunk;
        });
        await until('it listens', async () => {
          if (started.exitCode !== null) throw new Error(stderr);
          return fetch(url, { method: 'POST', body: 'x' }).catch(() => null);
        });
      },
      stop: () => kill(child),
      freeze: () => child.kill('SIGSTOP'),
      stored: () => readdir(join(work, 'events')).catch(() => []),
      read: (name: string) => readFile(join(work, 'events', name), 'utf8'),
      remove: (name: string) => rm(join(work, 'events', name)),
    };
  }

  test.each(PROGRAMS)('$heading stores each delivered event once', async (program) => {
    const account = await stack.account();
    await setEvents(connectionOf(knex), account.id, true);
    const receiver = await install(program);
    const options = { accountId: account.id, url: receiver.url, types: null };
    const endpoint = await createEndpoint(connectionOf(knex), stack.secretsKey, options);
    await receiver.start(endpoint.secret);
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

  /** Starts `orders listen` as a process. */
  function listen(account: TestAccount, service: string, ...args: string[]) {
    const env = { ...baseEnvironment(), NODE_ENV: 'production', ORDERS_URL: service, ORDERS_API_KEY: account.key };
    const child = spawn(process.execPath, [MAIN, 'listen', '--forward-to', ...args], {
      env,
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    children.add(child);
    const printed = { stdout: '', stderr: '' };
    for (const name of ['stdout', 'stderr'] as const)
      child[name].setEncoding('utf8').on('data', (text: string) => {
        printed[name] += text;
      });
    const closed = once(child, 'close');
    return {
      printed,
      says: (text: string, times = 1) => until(text, async () => printed.stderr.split(text).length > times),
      posted: (count: number) => until(`${count} lines`, async () => printed.stdout.split('\n').length > count),
      interrupt: () => child.kill('SIGINT'),
      ended: async () => ({ code: (await closed)[0], ...printed }),
    };
  }

  test.each(PROGRAMS)('$heading gets each event from orders listen, in order, through restarts', async (program) => {
    const account = await stack.account();
    await setEvents(connectionOf(knex), account.id, true);
    const settings = { PORT: String(await freePort()) };
    const service = await stack.intake(settings);
    const receiver = await install({ ...program, heading: `${program.heading} on this machine` });
    const listening = listen(account, service.api.url, receiver.url);
    await listening.says('Posts events to');
    const [, secret = ''] = /^Signs with the secret (\S+)$/m.exec(listening.printed.stderr) ?? [];
    const write = (name: string) => api.process(account, { source_order_id: name });

    await write('before it starts');
    await listening.says('Nothing listens');
    await receiver.start(secret);
    await listening.posted(1);
    await receiver.stop();
    await write('while it is away');
    await write('also while it is away');
    await listening.says('Nothing listens', 2);
    await receiver.start(secret);
    await listening.posted(3);
    await service.close();
    await listening.says('Waits for the service');
    await write('while the service is away');
    await stack.intake(settings);
    await listening.posted(4);

    listening.interrupt();
    const { code, stdout, stderr } = await listening.ended();
    expect([code, stderr]).toEqual([0, expect.stringContaining('Continue with --since 4.')]);
    const { events } = (await api.events(account)).body;
    const ids: string[] = events.map(({ id }: { id: string }) => id);
    expect(Array.from(stdout.matchAll(/ (evt_\w+) +(\S+) /g), ([, id, status]) => [id, status])).toEqual(
      ids.map((id) => [id, '204']),
    );
    expect(new Set(await receiver.stored())).toEqual(new Set(ids.map((id) => `${id}.json`)));
    for (const event of events) expect(JSON.parse(await receiver.read(`${event.id}.json`))).toEqual(event);

    const [first] = ids as [string];
    await receiver.remove(`${first}.json`);
    const replay = () => listen(account, api.url, receiver.url, '--replay', first);
    const posted = expect.stringMatching(` ${first} +204 `);
    expect(await replay().ended()).toMatchObject({ code: 0, stdout: posted });
    expect(await receiver.stored()).toContain(`${first}.json`);
    receiver.freeze();
    const unanswered = replay();
    await unanswered.says('Signs with the secret');
    unanswered.interrupt();
    expect(await unanswered.ended()).toMatchObject({ code: 130, stdout: '' });
  });

  test.each(PROGRAMS)('$heading rejects what is not authentic, and accepts either secret', async (program) => {
    const [secret, other] = [createStandardSecret(), createStandardSecret()];
    const receiver = await install({ ...program, heading: `${program.heading} rejects` });
    await receiver.start(secret);
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
