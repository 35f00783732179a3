import { readFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import {
  ConfigurationError,
  databaseEnvironment,
  processEnvironment,
  queueUrl,
  randomSecret,
  readEnvironment,
  secretsEnvironment,
  webOrigin,
} from '@orders/runtime';

/** What the commands take from the environment, or in development from what `npm start` left in `.local`. */
export interface CliConfig {
  DATABASE_URL: string;
  QUEUE_URL?: string;
  SECRETS_KEY?: Buffer;
  SECRETS_KEY_PREVIOUS?: Buffer;
  /** Where browsers find the portal, without a slash at its end. */
  PORTAL_URL?: string;
  /** By which the apps sign in under roles of their own; `migrate` sets those that are given. */
  INTAKE_DB_PASSWORD?: string;
  WORKER_DB_PASSWORD?: string;
  PORTAL_DB_PASSWORD?: string;
  /** The database is the one of `npm start`, which may have ended since. */
  isLocal: boolean;
}

type Environment = Partial<Omit<CliConfig, 'isLocal'>> & { NODE_ENV: string };

const SCHEMA = {
  NODE_ENV: processEnvironment.NODE_ENV,
  PGPASSWORD: databaseEnvironment.PGPASSWORD,
  DATABASE_URL: databaseEnvironment.DATABASE_URL.optional(),
  QUEUE_URL: queueUrl.optional(),
  ...secretsEnvironment,
  SECRETS_KEY: secretsEnvironment.SECRETS_KEY.optional(),
  PORTAL_URL: webOrigin.optional(),
  INTAKE_DB_PASSWORD: randomSecret,
  WORKER_DB_PASSWORD: randomSecret,
  PORTAL_DB_PASSWORD: randomSecret,
};

/** The commit that the image was built from; `unknown` elsewhere. */
export function readRevision(env: NodeJS.ProcessEnv): string {
  return readEnvironment<{ REVISION: string }>({ REVISION: processEnvironment.REVISION }, env).REVISION;
}

/** Where `npm start` of this clone keeps its data. */
export function localDirectoryOf({ LOCAL_DIRECTORY }: NodeJS.ProcessEnv): string {
  return resolve(LOCAL_DIRECTORY || join(import.meta.dirname, '../../../.local'));
}

/**
 * The queue, the secrets key and the portal of `npm start` are only taken together with its database: a key of this machine must never
 * encrypt the secrets of another one.
 *
 * @throws {ConfigurationError} with one line that says what to set.
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
  return { ...local, ...rest, isLocal: true };
}

async function readLocal(directory: string): Promise<(Environment & { DATABASE_URL: string }) | null> {
  const dev = await readLocalJson<Record<string, string>>(directory, 'dev.json');
  const secrets = await readLocalJson<Record<string, string>>(directory, 'secrets.json');
  const values = {
    DATABASE_URL: dev?.databaseUrl,
    QUEUE_URL: dev?.queueUrl,
    PORTAL_URL: dev?.portalUrl,
    SECRETS_KEY: secrets?.secretsKey,
  };
  const { DATABASE_URL, ...rest } = readEnvironment<Environment>(SCHEMA, values);
  return DATABASE_URL ? { ...rest, DATABASE_URL } : null;
}

/** Null for a file that is not there, is not ours to read or holds no JSON: as good as no `npm start`. */
export async function readLocalJson<T>(directory: string, name: string): Promise<T | null> {
  try {
    return JSON.parse(await readFile(join(directory, name), 'utf8'));
  } catch {
    return null;
  }
}
