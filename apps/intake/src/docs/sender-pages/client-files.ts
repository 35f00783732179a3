import { createHash } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { resolve } from 'node:path';

/** The container image has them at the same relative paths. */
const ROOT = resolve(import.meta.dirname, '../../../../..');

/** What is packed by `npm start`, and for the image. */
export const PACKED = 'orders-client.tgz';

/** The clients for senders by their names under `/docs/senders/clients`. */
const FILES = {
  'orders.py': { path: 'packages/client/python/orders.py', type: 'text/plain' },
  'orders.php': { path: 'packages/client/php/orders.php', type: 'text/plain' },
  [PACKED]: { path: 'packages/client/dist/orders-client.tgz', type: 'application/gzip' },
};

export type ClientName = keyof typeof FILES;
export const CLIENT_NAMES = Object.keys(FILES) as ClientName[];

/** A file as it is served, with its digest (RFC 9530). */
export interface ClientFile {
  bytes: Buffer;
  type: string;
  sha256: Buffer;
}

const read = new Map<ClientName, ClientFile>();

/** Reads a client when it is first asked for; null if it was not packed. */
export function readClient(name: ClientName): ClientFile | null {
  const known = read.get(name);
  if (known) return known;
  const { path, type } = FILES[name];
  if (!existsSync(resolve(ROOT, path))) return null;
  const bytes = readFileSync(resolve(ROOT, path));
  const file = { bytes, type, sha256: createHash('sha256').update(bytes).digest() };
  read.set(name, file);
  return file;
}

/** The digests of the clients as `sha256sum --check` reads them. */
export function clientSums(): string {
  return CLIENT_NAMES.map((name) => ({ name, file: readClient(name) }))
    .flatMap(({ name, file }) => (file ? `${file.sha256.toString('hex')}  ${name}\n` : []))
    .join('');
}
