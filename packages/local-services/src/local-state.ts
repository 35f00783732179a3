import { randomBytes } from 'node:crypto';
import { chmod, mkdir, readFile, writeFile } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';

/** Where `npm start` keeps its data, ignored by git; tests give it another place. */
export const LOCAL_DIRECTORY = resolve(process.env.LOCAL_DIRECTORY ?? join(import.meta.dirname, '../../../.local'));

/** Secrets of this machine's own development services, made on the first start. */
export interface LocalSecrets {
  postgresPassword: string;
  secretsKey: string;
}

/** Reads the secrets of this machine, making them the first time. */
export async function loadSecrets(directory = LOCAL_DIRECTORY): Promise<LocalSecrets> {
  const path = join(directory, 'secrets.json');
  const kept = await readJson<LocalSecrets>(path);
  if (kept) return kept;
  const made = {
    postgresPassword: randomBytes(18).toString('base64url'),
    secretsKey: randomBytes(32).toString('base64'),
  };
  await writePrivately(path, made);
  return made;
}

/** The JSON in a file, or null when there is no such file. */
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
