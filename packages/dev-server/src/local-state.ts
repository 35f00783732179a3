import { randomBytes } from 'node:crypto';
import { chmod, mkdir, readFile, writeFile } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import type { DemoAccount, DemoSignIn } from './demo-data.ts';

/** Where `npm start` keeps its data, ignored by git; tests set another directory. */
export const LOCAL_DIRECTORY = resolve(process.env.LOCAL_DIRECTORY ?? join(import.meta.dirname, '../../../.local'));

/** The contents of `.local/dev.json`, by which tools and tests find a running `npm start`. */
export interface DevFile {
  intakeUrl: string;
  adminUrl: string;
  databaseUrl: string;
  queueUrl: string;
  portalUrl: string;
  accounts: DemoAccount[];
  signIns: DemoSignIn[];
  /** Whether the sample orders were sent. */
  sampled: boolean;
}

/** Secrets of this machine's development services, generated on the first start. */
export interface LocalSecrets {
  postgresPassword: string;
  secretsKey: string;
}

/** Reads this machine's secrets; generates them the first time. */
export async function loadSecrets(directory = LOCAL_DIRECTORY): Promise<LocalSecrets> {
  const path = join(directory, 'secrets.json');
  const stored = await readJson<LocalSecrets>(path);
  if (stored) return stored;
  const created = {
    postgresPassword: randomBytes(18).toString('base64url'),
    secretsKey: randomBytes(32).toString('base64'),
  };
  await writePrivately(path, created);
  return created;
}

/** The JSON of a file, or null if it does not exist. */
export async function readJson<T>(path: string): Promise<T | null> {
  try {
    return JSON.parse(await readFile(path, 'utf8')) as T;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw new Error(`${path} cannot be read as JSON; remove it and start again.`);
  }
}

/** Writes JSON that only the owner can read. */
export async function writePrivately(path: string, value: unknown): Promise<void> {
  await mkdir(dirname(path), { recursive: true });
  await writeFile(path, `${JSON.stringify(value, null, 2)}\n`, { mode: 0o600 });
  await chmod(path, 0o600);
}
