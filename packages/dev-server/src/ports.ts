import { existsSync, mkdirSync } from 'node:fs';
import { tmpdir, userInfo } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { freePort } from '@orders/test-services/ports.ts';
import { readJson, writePrivately } from './local-state.ts';

/** The ports that each `npm start` needs. Two can be set, and have a first choice: the base port, and the one after it. Others can be any. */
const PORTS = {
  intake: { variable: 'PORT', offset: 0 },
  portal: { variable: 'PORTAL_PORT', offset: 1 },
  intakeAdmin: null,
  workerAdmin: null,
  notifierAdmin: null,
  portalAdmin: null,
  postgres: null,
  redis: null,
} as const;

type PortName = keyof typeof PORTS;
export type Ports = Record<PortName, number>;

const NAMES = Object.keys(PORTS) as PortName[];

const BASE_PORT = 8080;
/** A clone that does not get 8080 takes 8180, 8280 and so on; its portal 8181, 8281. */
const STEP = 100;
const STEPS = 10;

/**
 * Chooses the ports of a clone. Each clone keeps its own, also while it is stopped, and also if several start at once. If another program
 * uses one, the clone takes another port until its next start.
 *
 * @param options.directory keeps the clone's ports.
 * @param options.registry the directory in which the clones claim ports; tests set their own.
 * @param options.basePort the first choice for intake; tests set their own.
 * @throws {Error} with one line, if a port that a variable sets is in use or no port number.
 */
export async function choosePorts(options: {
  directory: string;
  environment: NodeJS.ProcessEnv;
  print: (text: string) => void;
  registry?: string;
  basePort?: number;
}): Promise<Ports> {
  const { directory, environment, print, registry, basePort = BASE_PORT } = options;
  const firstOf = (name: PortName) => PORTS[name] && basePort + PORTS[name].offset;
  const file = join(directory, 'ports.json');
  const kept = (await readJson<Partial<Ports>>(file)) ?? {};
  const requested = Object.fromEntries(NAMES.map((name) => [name, requestedPort(name, environment)]));

  return withClaims({ directory, ...(registry && { registry }) }, async (claims) => {
    const chosen: Partial<Ports> = {};
    const isChosen = (port: number) => Object.values(chosen).includes(port);
    const toKeep = { ...kept };
    for (const name of NAMES) {
      const port = requested[name];
      if (port) chosen[name] = await claimRequested(name, port, claims, isChosen);
    }
    for (const name of NAMES) {
      if (chosen[name]) continue;
      const preferred = requested[name] === 0 ? undefined : (kept[name] ?? firstOf(name) ?? undefined);
      const port = await claimFirstFree(candidates(preferred, firstOf(name)), claims, isChosen);
      chosen[name] = port;
      if (requested[name] === 0) continue;
      const owner = preferred && claims.otherOwner(preferred);
      if (preferred && PORTS[name] && port !== preferred)
        print(`Port ${preferred} ${owner ? `belongs to another clone (${owner})` : 'is in use'}; using ${port}.`);
      if (!kept[name] || owner) toKeep[name] = port;
    }
    // Also the ports that are replaced this time.
    for (const port of Object.values(toKeep)) claims.add(port);
    await writePrivately(file, toKeep);
    return chosen as Ports;
  });
}

/** The port that a variable sets; 0 means any free port. */
function requestedPort(name: PortName, environment: NodeJS.ProcessEnv): number | undefined {
  const variable = PORTS[name]?.variable;
  const text = variable && environment[variable];
  if (!text) return undefined;
  if (!/^\d{1,5}$/.test(text) || Number(text) > 65_535)
    throw new Error(`${variable} must be a number from 0 to 65535.`);
  return Number(text);
}

async function claimRequested(
  name: PortName,
  port: number,
  claims: Claims,
  isChosen: (port: number) => boolean,
): Promise<number> {
  if (isChosen(port) || !(await isFree(port)))
    throw new Error(`port ${port} of ${PORTS[name]?.variable} is in use; set another, or unset it to get a free one.`);
  claims.add(port);
  return port;
}

async function claimFirstFree(
  ports: AsyncIterable<number>,
  claims: Claims,
  isChosen: (port: number) => boolean,
): Promise<number> {
  for await (const port of ports) {
    if (isChosen(port) || claims.otherOwner(port) || !(await isFree(port))) continue;
    claims.add(port);
    return port;
  }
  throw new Error('there is no free port.');
}

async function* candidates(preferred: number | undefined, first: number | null): AsyncGenerator<number> {
  if (preferred) yield preferred;
  if (preferred && first) yield* Array.from({ length: STEPS }, (_, step) => first + step * STEP);
  for (let tries = 0; tries < 1000; tries += 1) yield freePort();
}

async function isFree(port: number): Promise<boolean> {
  return (await freePort(port)) === port;
}

/** The ports that the clones of this machine have claimed, as one clone sees them. */
interface Claims {
  /** The directory of the other clone that claimed a port, or null. */
  otherOwner(port: number): string | null;
  /** Claims a port, unless another clone has. */
  add(port: number): void;
}

/** One for each user, so that users need no rights on files of others. */
const REGISTRY = join(tmpdir(), `order-ingestion-ports-${userInfo().uid}`);
/** Other clones hold the lock for milliseconds. */
const LOCK_TIMEOUT_MS = 30_000;

/**
 * Replaces the claims of a clone by those that `work` adds, while no other clone reads or changes claims. A failed `work` changes nothing.
 * The lock is SQLite's: it ends with its process. Claims of removed clones are dropped.
 *
 * @param clone.directory where the clone keeps its data.
 */
async function withClaims<T>(
  { directory, registry = REGISTRY }: { directory: string; registry?: string },
  work: (claims: Claims) => Promise<T>,
): Promise<T> {
  mkdirSync(registry, { recursive: true, mode: 0o700 });
  const database = new DatabaseSync(join(registry, 'claims.sqlite'), { timeout: LOCK_TIMEOUT_MS });
  try {
    database.exec('begin immediate');
    database.exec('create table if not exists claims (port integer primary key, directory text not null)');
    const claims = database.prepare('select port, directory from claims').all() as {
      port: number;
      directory: string;
    }[];
    const remove = database.prepare('delete from claims where port = ?');
    for (const claim of claims)
      if (claim.directory === directory || !existsSync(claim.directory)) remove.run(claim.port);
    const find = database.prepare('select directory from claims where port = ? and directory <> ?');
    const insert = database.prepare('insert or ignore into claims (port, directory) values (?, ?)');
    const result = await work({
      otherOwner: (port) => (find.get(port, directory)?.directory as string | undefined) ?? null,
      add: (port) => void insert.run(port, directory),
    });
    database.exec('commit');
    return result;
  } finally {
    database.close();
  }
}
