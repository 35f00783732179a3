import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { createServer, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { json } from 'node:stream/consumers';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { choosePorts, type Ports } from '../src/ports.ts';

let root: string;
let basePort: number;
let servers: Server[] = [];

beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'orders-ports-'));
  // Other tests and programs may use 8080.
  basePort = 30_100 + Math.floor(Math.random() * 900);
});
afterEach(async () => {
  for (const server of servers) await once(server.close(), 'close');
  servers = [];
  await rm(root, { recursive: true });
});

async function clone(name: string): Promise<string> {
  const directory = join(root, name);
  await mkdir(directory, { recursive: true });
  return directory;
}

interface Chosen {
  ports: Ports;
  printed: string[];
}

async function choose(name: string, environment: NodeJS.ProcessEnv = {}, registry = 'registry'): Promise<Chosen> {
  const printed: string[] = [];
  const ports = await choosePorts({
    directory: await clone(name),
    registry: join(root, registry),
    environment,
    basePort,
    print: (line) => printed.push(line),
  });
  return { ports, printed };
}

async function occupy(port = 0): Promise<number> {
  const server = createServer().listen(port, '127.0.0.1');
  await once(server, 'listening');
  servers.push(server);
  return (server.address() as { port: number }).port;
}

const CHOOSE = `
  import { choosePorts } from ${JSON.stringify(new URL('../src/ports.ts', import.meta.url).href)};
  const [directory, registry, basePort] = process.argv.slice(1);
  process.send('ready');
  process.once('message', async () => {
    console.log(JSON.stringify(await choosePorts({ directory, registry, basePort: Number(basePort), environment: {}, print() {} })));
    process.disconnect();
  });
`;

/** Chooses in a process for each clone, all at once. */
async function chooseAtOnce(names: string[]): Promise<Ports[]> {
  const children = await Promise.all(
    names.map(async (name) => {
      const args = ['--input-type=module', '-e', CHOOSE, await clone(name), join(root, 'registry'), String(basePort)];
      const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit', 'ipc'] });
      await once(child, 'message');
      return child;
    }),
  );
  for (const child of children) child.send('choose');
  return Promise.all(children.map((child) => json(child.stdout as NodeJS.ReadableStream) as Promise<Ports>));
}

test('clones that start at once get ports of their own, and keep them', async () => {
  const names = ['a', 'b', 'c', 'd', 'e', 'f'];
  const first = await chooseAtOnce(names);
  const all = first.flatMap((ports) => Object.values(ports));
  expect(all).toHaveLength(8 * names.length);
  expect(new Set(all).size).toBe(all.length);
  expect(await chooseAtOnce(names)).toEqual(first);
});

test('a clone keeps its ports when the claims are lost', async () => {
  const { ports } = await choose('a');
  expect(await choose('a', {}, 'another')).toEqual({ ports, printed: [] });
});

test('the ports of a stopped clone go to no other, and those of a removed clone do', async () => {
  const a = await choose('a');
  const b = await choose('b');
  expect(Object.values(b.ports)).not.toContain(a.ports.intake);
  expect(b.printed).toContain(
    `Port ${a.ports.intake} belongs to another clone (${join(root, 'a')}); using ${b.ports.intake}.`,
  );
  expect((await choose('b')).printed).toEqual([]);
  await rm(join(root, 'a'), { recursive: true });
  expect((await choose('c')).ports.intake).toBe(a.ports.intake);
});

test('a port that another program uses is replaced only until the next start', async () => {
  const { ports } = await choose('a');
  await occupy(ports.portal);
  const meanwhile = await choose('a');
  expect(meanwhile.ports).toEqual({ ...ports, portal: expect.any(Number) });
  expect(meanwhile.printed).toEqual([`Port ${ports.portal} is in use; using ${meanwhile.ports.portal}.`]);
  expect(Object.values((await choose('b')).ports)).not.toContain(ports.portal);
  await once((servers.pop() as Server).close(), 'close');
  expect(await choose('a')).toEqual({ ports, printed: [] });
});

test('a port that a variable sets is used for this start', async () => {
  const { ports } = await choose('a');
  const port = await occupy();
  await once((servers.pop() as Server).close(), 'close');
  const set = await choose('a', { PORTAL_PORT: String(port) });
  expect(set).toEqual({ ports: { ...ports, portal: port }, printed: [] });
  // Another clone's port may be set if that clone is stopped.
  expect((await choose('b', { PORT: String(ports.intake) })).ports.intake).toBe(ports.intake);
  const { intake } = (await choose('a', { PORT: '0' })).ports;
  expect(Object.values(ports)).not.toContain(intake);
  expect((await choose('a')).ports).toEqual(ports);
});

test('a variable that cannot be used is explained in one line', async () => {
  const port = String(await occupy());
  await expect(choose('a', { PORT: port })).rejects.toThrow(
    `port ${port} of PORT is in use; set another, or unset it to get a free one.`,
  );
  await expect(choose('a', { PORT: '20001', PORTAL_PORT: '20001' })).rejects.toThrow('port 20001 of PORTAL_PORT');
  for (const wrong of ['x', '-1', '65536', '1e3'])
    await expect(choose('a', { PORTAL_PORT: wrong })).rejects.toThrow('PORTAL_PORT must be a number from 0 to 65535.');
});
