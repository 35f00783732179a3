import { readFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import {
  ConfigurationError,
  callbackHosts,
  LOOPBACK_HOSTS,
  optionalDuration,
  readEnvironment,
  webOrigin,
} from '@orders/runtime/config/environment.ts';
import {
  databaseEnvironment,
  installationNumber,
  type PartitionWidth,
  partitionWidth,
  processEnvironment,
  queueUrl,
  randomSecret,
  secretsEnvironment,
  senderEnvironment,
} from '@orders/runtime/config/settings.ts';

/** The commands' settings, from the environment or, in development, from the files that `npm start` writes to `.local`. */
export interface CliConfig {
  DATABASE_URL: string;
  /** The Postgres of the installation to which `accounts move` moves. */
  TARGET_DATABASE_URL?: string;
  /** For `accounts move`: that of DATABASE_URL, as the Postgres of TARGET_DATABASE_URL reaches it. */
  SOURCE_DATABASE_URL?: string;
  QUEUE_URL?: string;
  SECRETS_KEY?: Buffer;
  SECRETS_KEY_PREVIOUS?: Buffer;
  /** The portal's address for browsers, without a trailing slash. */
  PORTAL_URL?: string;
  /** The address of intake for senders, without a trailing slash. */
  INTAKE_URL?: string;
  /** Hosts of endpoints for which http and private addresses are allowed. */
  CALLBACK_ALLOW: string[];
  /** Of an empty database that `migrate` prepares; 0 to 8,999. */
  INSTALLATION_NUMBER?: number;
  /** Of the partitions of receipts and bodies that `migrate` creates. */
  PARTITION_WIDTH: PartitionWidth;
  /** The age of orders that `archive` stores and drops, in milliseconds; without it, orders are kept. */
  ORDER_RETENTION?: number;
  /** Passwords of the apps' own roles; `migrate` sets those that are given. */
  INTAKE_DB_PASSWORD?: string;
  WORKER_DB_PASSWORD?: string;
  PORTAL_DB_PASSWORD?: string;
  NOTIFIER_DB_PASSWORD?: string;
  /** Whether the database is that of `npm start`, which may have stopped. */
  isLocal: boolean;
}

type Environment = Partial<Omit<CliConfig, 'isLocal'>> &
  Pick<CliConfig, 'CALLBACK_ALLOW' | 'PARTITION_WIDTH'> & { NODE_ENV: string };

const SCHEMA = {
  NODE_ENV: processEnvironment.NODE_ENV,
  PGPASSWORD: databaseEnvironment.PGPASSWORD,
  DATABASE_URL: databaseEnvironment.DATABASE_URL.optional(),
  TARGET_DATABASE_URL: databaseEnvironment.DATABASE_URL.optional(),
  SOURCE_DATABASE_URL: databaseEnvironment.DATABASE_URL.optional(),
  QUEUE_URL: queueUrl.optional(),
  ...secretsEnvironment,
  SECRETS_KEY: secretsEnvironment.SECRETS_KEY.optional(),
  PORTAL_URL: webOrigin.optional(),
  INTAKE_URL: senderEnvironment.ORDERS_URL,
  CALLBACK_ALLOW: callbackHosts,
  INSTALLATION_NUMBER: installationNumber,
  PARTITION_WIDTH: partitionWidth,
  ORDER_RETENTION: optionalDuration('36500d'),
  INTAKE_DB_PASSWORD: randomSecret,
  WORKER_DB_PASSWORD: randomSecret,
  PORTAL_DB_PASSWORD: randomSecret,
  NOTIFIER_DB_PASSWORD: randomSecret,
};

/** The commit of the container image; `unknown` elsewhere. */
export function readRevision(env: NodeJS.ProcessEnv): string {
  return readEnvironment<{ REVISION: string }>({ REVISION: processEnvironment.REVISION }, env).REVISION;
}

/** The data directory of `npm start` in this clone. */
export function localDirectoryOf({ LOCAL_DIRECTORY }: NodeJS.ProcessEnv): string {
  return resolve(LOCAL_DIRECTORY || join(import.meta.dirname, '../../../.local'));
}

/**
 * Reads the settings. Queue, secrets key and portal of `npm start` are used only together with its database: a local key must never
 * encrypt secrets of another database.
 *
 * @throws {ConfigurationError} with one line that says which variable to set.
 */
export async function readConfig(env: NodeJS.ProcessEnv, localDirectory = localDirectoryOf(env)): Promise<CliConfig> {
  const { NODE_ENV, DATABASE_URL, ...rest } = readEnvironment<Environment>(SCHEMA, env);
  if (NODE_ENV === 'production') {
    if (!DATABASE_URL) throw new ConfigurationError('Configuration: set DATABASE_URL.');
    return { ...rest, DATABASE_URL, isLocal: false };
  }
  const local = await readLocal(localDirectory);
  if (DATABASE_URL && DATABASE_URL !== local?.DATABASE_URL) return { ...rest, DATABASE_URL, isLocal: false };
  if (!local) throw new ConfigurationError('Configuration: set DATABASE_URL, or run npm start first.');
  const CALLBACK_ALLOW = rest.CALLBACK_ALLOW.length > 0 ? rest.CALLBACK_ALLOW : LOOPBACK_HOSTS;
  return { ...local, ...rest, CALLBACK_ALLOW, isLocal: true };
}

async function readLocal(directory: string): Promise<(Environment & { DATABASE_URL: string }) | null> {
  const dev = await readLocalJson<Record<string, string>>(directory, 'dev.json');
  const secrets = await readLocalJson<Record<string, string>>(directory, 'secrets.json');
  const values = {
    DATABASE_URL: dev?.databaseUrl,
    QUEUE_URL: dev?.queueUrl,
    PORTAL_URL: dev?.portalUrl,
    INTAKE_URL: dev?.intakeUrl,
    SECRETS_KEY: secrets?.secretsKey,
  };
  const { DATABASE_URL, ...rest } = readEnvironment<Environment>(SCHEMA, values);
  return DATABASE_URL ? { ...rest, DATABASE_URL } : null;
}

/** Null if the file is missing, unreadable or not JSON, which means the same as no `npm start`. */
export async function readLocalJson<T>(directory: string, name: string): Promise<T | null> {
  try {
    return JSON.parse(await readFile(join(directory, name), 'utf8'));
  } catch {
    return null;
  }
}
