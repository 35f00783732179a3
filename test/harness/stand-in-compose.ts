import { execFile, type SpawnOptions } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { closeSync, openSync } from 'node:fs';
import { chmod, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { connect, createServer, type Server } from 'node:net';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { promisify } from 'node:util';
import { mainOf, startProgram } from '@orders/test-services/apps.ts';
import { type Child, startChild } from '@orders/test-services/child.ts';
import type { runAsUnprivileged } from '@orders/test-services/postgres.ts';
import { findOnPath } from '@orders/test-services/redis.ts';
import { until } from '@orders/test-services/until.ts';
import type { Result } from './stand-in-programs.ts';

const NAMES = ['postgres', 'redis', 'migrate', 'intake', 'portal', 'worker', 'notifier', 'operator'];
/** What docker compose takes with a value. */
const WITH_VALUE = ['--user', '--entrypoint'];

/** A service of `docker compose config`, as far as it is needed. */
interface Service {
  entrypoint: string[] | null;
  command: string[] | null;
  environment?: Record<string, string | null>;
  depends_on?: Record<string, unknown>;
  networks: Record<string, unknown>;
  ports?: { host_ip: string; published: string; target: number }[];
  secrets?: { source: string; target: string }[];
  volumes?: { type: string; source: string; target: string }[];
}
interface Project {
  services: Record<string, Service>;
  networks: Record<string, { internal?: boolean; driver_opts?: Record<string, string> }>;
  secrets: Record<string, { file: string }>;
}
/** A running service. `definition` is what it was started with, `relays` are its published ports. */
interface Container {
  definition: string;
  child: Child | null;
  relays: Server[];
}

/**
 * The Compose project of a machine, whose services run as processes. The real `docker compose`, which needs no daemon for that, merges the
 * files. As in containers, a service is reached from another machine only by a published port, and reaches one only by a network that leads
 * out.
 */
export interface StandInCompose {
  /** Runs `docker` with these arguments. Only those of the pages are supported. */
  handle(args: string[]): Promise<Result>;
  isRunning(service: string): boolean;
  close(): Promise<void>;
}

/**
 * @param options `directory` has the Compose files; `place` is for data and logs. `addressOf` gives the address of a service by its place
 * among them, `port` the port in place of one in a container. `PATH` begins with the programs of Postgres; `as` owns its data. `own` is the
 * environment of each app, which wins.
 */
export function createStandInCompose(options: {
  place: string;
  directory: string;
  addressOf: (index: number) => string;
  port: (named: string) => string;
  PATH: string;
  as: ReturnType<typeof runAsUnprivileged>;
  own: Record<string, string>;
}): StandInCompose {
  const { place, directory, addressOf, port, PATH, as, own } = options;
  const containers = new Map<string, Container>();
  const inner = (service: string) => addressOf(NAMES.indexOf(service));

  async function readProject(profile: string): Promise<Project> {
    const args = ['compose', ...(profile ? ['--profile', profile] : []), 'config', '--format', 'json'];
    const env = { PATH: process.env.PATH, HOME: place };
    const { stdout } = await promisify(execFile)(findOnPath('docker') as string, args, { cwd: directory, env });
    return JSON.parse(stdout);
  }

  /** What a container has at other paths and by other names. */
  function translate(service: Service, value: string): string {
    const binds = (service.volumes ?? []).filter(({ type }) => type === 'bind');
    const places = new Map(binds.map(({ source, target }) => [target, source]));
    places.set('/run/secrets', join(place, 'secrets'));
    return value
      .replaceAll(new RegExp([...places.keys()].join('|'), 'g'), (path) => places.get(path) as string)
      .replace(/(?<=[@/])(?:postgres|redis)(?=:\d)/, inner);
  }

  async function environmentOf(
    name: string,
    { networks, secrets, services }: Project,
  ): Promise<Record<string, string>> {
    const service = services[name] as Service;
    for (const { source } of service.secrets ?? []) {
      const content = await readFile((secrets[source] as { file: string }).file);
      const file = join(place, 'secrets', source);
      // In one step, as a program that runs already may read it now.
      const part = `${file}.${randomUUID()}`;
      await writeFile(part, content);
      await chmod(part, 0o644);
      await rename(part, file);
    }
    const env = Object.fromEntries(
      Object.entries(service.environment ?? {}).flatMap(([key, value]) =>
        value === null ? [] : [[key, translate(service, value.replaceAll('$$', '$'))]],
      ),
    );
    const leadsOut = Object.keys(service.networks).some(
      (network) => !networks[network]?.internal && !networks[network]?.driver_opts,
    );
    for (const url of ['DATABASE_URL', 'QUEUE_URL'].flatMap((key) => env[key] ?? []))
      if (!leadsOut && !NAMES.map(inner).includes(new URL(url).hostname))
        throw new Error(`${name} has no network that leads to ${new URL(url).host}`);
    if (name !== 'postgres') return { PATH, ...env };
    return {
      PATH,
      PGDATA: join(place, 'postgres/data'),
      PGHOST: join(place, 'sockets'),
      PGPORT: port('5432'),
      LISTEN: inner('postgres'),
      BACKUP_DIRECTORY: join(directory, 'backup'),
      ...env,
    };
  }

  /** Runs a program in the place of a service, and waits for its end. */
  async function runIn(name: string, project: Project, command: string[], user?: string): Promise<Result> {
    const service = project.services[name] as Service;
    const { uid, gid } = as.owner ?? { uid: process.getuid?.(), gid: process.getgid?.() };
    const [program = '', ...args] = command.map((word) =>
      word === 'postgres:postgres' ? `${uid}:${gid}` : translate(service, word),
    );
    const identity = user === 'postgres' ? as.identity : {};
    const env = await environmentOf(name, project);
    const { process: child } = await startChild(program, args, { env, cwd: place, stdio: 'pipe', ...identity });
    child.stdin?.end();
    const [stdout, stderr, [code]] = await Promise.all([
      text(child.stdout as NodeJS.ReadableStream),
      text(child.stderr as NodeJS.ReadableStream),
      once(child, 'exit'),
    ]);
    return { code, stdout, stderr };
  }

  async function start(name: string, project: Project): Promise<void> {
    const service = project.services[name] as Service;
    const definition = JSON.stringify(service);
    const former = containers.get(name);
    if (former?.definition === definition && (former.child?.isRunning ?? true) && name !== 'migrate') return;
    await stop(name);
    if (name === 'migrate') {
      const { code, stderr } = await runIn(name, project, service.command as string[]);
      if (code !== 0) throw new Error(`migrate failed: ${stderr}`);
      return;
    }
    const env = await environmentOf(name, project);
    const command = [...(service.entrypoint ?? []), ...(service.command ?? [])].map((word) => translate(service, word));
    const log = join(place, `${name}.log`);
    const child = await launch(name, command, env, log);
    const container: Container = { definition, child, relays: [] };
    containers.set(name, container);
    for (const { host_ip, published, target } of service.ports ?? []) {
      const from = { host: host_ip, port: Number(published) };
      container.relays.push(await relay(from, { host: inner(name), port: target }));
    }
    const isHealthy = healthOf(name, project);
    await until(
      `${name} is healthy`,
      async () => {
        if (child && !child.isRunning) throw new Error(`${name} has ended: ${await readFile(log, 'utf8')}`);
        return isHealthy();
      },
      { seconds: 120, everyMs: 50 },
    );
  }

  async function launch(name: string, command: string[], env: Record<string, string>, log: string) {
    const [program = '', ...args] = command;
    if (name === 'operator') return null;
    const listen = { HOST: inner(name), PORT: port('8080'), ADMIN_HOST: inner(name), ADMIN_PORT: port('9090') };
    if (name !== 'postgres' && name !== 'redis')
      return startProgram(mainOf(program), { ...env, ...listen, ...own }, { output: { file: log } });
    const where =
      name === 'redis' ? ['--bind', inner(name), '--port', port('6379'), '--dir', join(place, 'redis')] : [];
    const identity = name === 'postgres' ? as.identity : {};
    const output = openSync(log, 'a');
    try {
      const options: SpawnOptions = { env, cwd: place, stdio: ['ignore', output, output], ...identity };
      return await startChild(program, [...args, ...where], options);
    } finally {
      closeSync(output);
    }
  }

  function healthOf(name: string, project: Project): () => Promise<boolean> {
    if (name === 'operator') return async () => true;
    if (name === 'postgres') {
      const ask = ['pg_isready', '-h', inner(name), '-U', 'orders', '-d', 'orders'];
      return async () => (await runIn(name, project, ask)).code === 0;
    }
    if (name === 'redis') return () => canConnect(inner(name), Number(port('6379')));
    const url = `http://${inner(name)}:${port('9090')}/health/ready`;
    return () =>
      fetch(url).then(
        ({ ok }) => ok,
        () => false,
      );
  }

  async function stop(name: string): Promise<void> {
    const container = containers.get(name);
    containers.delete(name);
    await container?.child?.stop(name === 'postgres' ? 'SIGINT' : 'SIGTERM');
    for (const server of container?.relays ?? []) server.close();
  }

  async function up(names: string[], isAlone: boolean): Promise<void> {
    const project = await readProject(names.length > 0 ? '*' : '');
    const started = new Map<string, Promise<void>>();
    const startAfterOthers = async (name: string): Promise<void> => {
      const needed = isAlone ? [] : Object.keys(project.services[name]?.depends_on ?? {});
      await Promise.all(needed.map(visit));
      await start(name, project);
    };
    function visit(name: string): Promise<void> {
      const starting = started.get(name) ?? startAfterOthers(name);
      started.set(name, starting);
      return starting;
    }
    await Promise.all((names.length > 0 ? names : Object.keys(project.services)).map(visit));
  }

  return {
    isRunning: (service) => containers.get(service)?.child?.isRunning ?? false,
    async handle([compose, verb, ...words]) {
      if (compose !== 'compose') return { code: 1, stderr: `the stand-in does not know docker ${compose}\n` };
      const flags = new Map<string, string>();
      while (words[0]?.startsWith('-')) {
        const flag = words.shift() as string;
        flags.set(flag, WITH_VALUE.includes(flag) ? (words.shift() as string) : '');
      }
      const [name = '', ...command] = words;
      switch (verb) {
        case 'up':
          await up(words, flags.has('--no-deps'));
          return { code: 0 };
        case 'exec':
          if (!containers.has(name)) return { code: 1, stderr: `service "${name}" is not running\n` };
          return runIn(name, await readProject('*'), command, flags.get('--user'));
        case 'run': {
          const program = flags.get('--entrypoint');
          return runIn(name, await readProject('*'), program ? [program, ...command] : command, flags.get('--user'));
        }
        case 'stop':
          for (const service of words.length > 0 ? words : [...containers.keys()]) await stop(service);
          return { code: 0 };
        case 'down':
          for (const service of [...containers.keys()].reverse()) await stop(service);
          if (flags.has('--volumes'))
            for (const data of ['postgres/data', 'redis/appendonlydir'])
              await rm(join(place, data), { recursive: true, force: true });
          return { code: 0 };
        case 'ps':
          return { code: 0, stdout: `${[...containers.keys()].join('\n')}\n` };
        default:
          return { code: 1, stderr: `the stand-in does not know docker compose ${verb}\n` };
      }
    },
    async close() {
      for (const service of [...containers.keys()].reverse()) await stop(service);
    },
  };
}

interface Address {
  host: string;
  port: number;
}

/** In place of a published port. */
async function relay(from: Address, to: Address): Promise<Server> {
  const server = createServer((client) => {
    const upstream = connect(to);
    client.on('error', () => upstream.destroy()).on('close', () => upstream.destroy());
    upstream.on('error', () => client.destroy()).on('close', () => client.destroy());
    client.pipe(upstream).pipe(client);
  });
  await once(server.listen(from), 'listening');
  return server;
}

function canConnect(host: string, port: number): Promise<boolean> {
  return new Promise((settle) => {
    const socket = connect(port, host, () => settle(true));
    socket.on('error', () => settle(false)).on('connect', () => socket.destroy());
  });
}
