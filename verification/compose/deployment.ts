import { randomBytes } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { freePort } from '@orders/test-services/ports.ts';
import { until } from '@orders/test-services/until.ts';
import { run } from './run.ts';

/** Ends when it has migrated, so it is never healthy. */
const MIGRATE = 'migrate';

const ROOT = resolve(import.meta.dirname, '../..');

/** What `docker inspect` says of a container, as far as it is needed. */
interface Container {
  Id: string;
  RestartCount: number;
  Config: { Labels: Record<string, string> };
  HostConfig: { ReadonlyRootfs: boolean; CapDrop: string[] | null };
  State: { Running: boolean; ExitCode: number; Health?: { Status: string } };
}

/** The service as docker-compose.yml describes it, under a project of its own. */
export interface Compose {
  compose(...args: string[]): Promise<string>;
  /** The operator's commands; what they print as JSON. */
  // biome-ignore lint/suspicious/noExplicitAny: what a command answers is for its caller to know.
  orders(...args: string[]): Promise<any>;
  query<Row>(sql: string): Promise<Row[]>;
  /** All containers, or those of one service, ended ones too. */
  containers(service?: string): Promise<Container[]>;
  /** Until each container that is to run does, and is healthy. */
  untilHealthy(): Promise<void>;
}

/** The same with an image, ports and secrets of its own. */
export interface Deployment extends Compose {
  image: string;
  intakeUrl: string;
  portalUrl: string;
  /** The secrets that it was given. */
  secrets: string[];
  /** Removes containers, volumes, image and secrets; nobody can end that. */
  remove(): Promise<void>;
}

/**
 * @param compose runs `docker compose` with these arguments.
 * @param signal ends whatever is under way.
 */
export function openCompose(compose: Compose['compose'], signal: AbortSignal): Compose {
  async function containers(service?: string): Promise<Container[]> {
    const ids = (await compose('ps', '--all', '--quiet', ...(service ? [service] : []))).split('\n').filter(Boolean);
    return ids.length === 0 ? [] : JSON.parse(await run('docker', ['inspect', ...ids], { signal }));
  }

  return {
    compose,
    async orders(...args) {
      return JSON.parse(await compose('exec', '--no-TTY', 'operator', 'orders', ...args, '--json'));
    },
    async query(sql) {
      const text = `select coalesce(json_agg(t), '[]') from (${sql}) t`;
      const psql = ['psql', '--username=orders', '--no-align', '--tuples-only', '--command', text];
      return JSON.parse(await compose('exec', '--no-TTY', 'postgres', ...psql));
    },
    containers,
    async untilHealthy() {
      // Those of the monitoring have no check.
      const isUp = ({ State }: Container) => (State.Health ? State.Health.Status === 'healthy' : State.Running);
      const isWell = (container: Container) =>
        container.Config.Labels['com.docker.compose.service'] === MIGRATE || isUp(container);
      await until('every container is healthy', async () => (await containers()).every(isWell), {
        seconds: 180,
        everyMs: 500,
        signal,
      });
    },
  };
}

/** @param signal ends whatever is under way. */
export async function prepareDeployment(signal: AbortSignal): Promise<Deployment> {
  const project = `orders-test-${randomBytes(3).toString('hex')}`;
  const directory = await mkdtemp(join(tmpdir(), `${project}-`));
  const [intakePort, portalPort] = [await freePort(), await freePort()];
  const intakeUrl = `http://127.0.0.1:${intakePort}`;
  const portalUrl = `http://127.0.0.1:${portalPort}`;
  const secrets: Record<string, string> = { SECRETS_KEY: randomBytes(32).toString('base64') };
  for (const role of ['POSTGRES', 'INTAKE_DB', 'WORKER_DB', 'PORTAL_DB', 'NOTIFIER_DB']) {
    secrets[`${role}_PASSWORD`] = randomBytes(24).toString('base64');
  }
  const inFiles: Record<string, string> = {};
  for (const [name, value] of Object.entries(secrets)) {
    const file = join(directory, name.toLowerCase());
    await writeFile(file, `${value}\n`);
    Object.assign(inFiles, { [name]: '', [`${name}_FILE`]: file });
  }

  const env: NodeJS.ProcessEnv = {
    ...process.env,
    ORDERS_IMAGE: project,
    ...inFiles,
    // The load here comes from one account.
    RATE_LIMIT: '100000/1s',
    INTAKE_PORT: String(intakePort),
    PORTAL_PORT: String(portalPort),
    INTAKE_URL: intakeUrl,
    PORTAL_URL: portalUrl,
  };
  const compose = (args: string[], end: { signal?: AbortSignal } = {}) => {
    // Without the .env of a service that runs from this clone.
    const where = ['compose', '--project-name', project, '--project-directory', ROOT, '--env-file', '/dev/null'];
    return run('docker', [...where, ...args], { env, ...end });
  };
  const own = (...args: string[]) => compose(args, { signal });

  return {
    image: project,
    intakeUrl,
    portalUrl,
    secrets: Object.values(secrets),
    ...openCompose(own, signal),
    async remove() {
      await compose(['down', '--volumes', '--remove-orphans', '--timeout', '5']);
      // There is none if it could not be built.
      await run('docker', ['image', 'rm', '--force', project]).catch(() => {});
      await rm(directory, { recursive: true });
    },
  };
}
