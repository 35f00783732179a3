import { execFile } from 'node:child_process';
import { globSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';

const PACK = resolve(import.meta.dirname, '../../packages/client/scripts/pack.ts');

/** Packs the client as for publishing, and returns the path of the tarball. */
export async function packClient(directory: string): Promise<string> {
  await promisify(execFile)(process.execPath, [PACK, directory]);
  const [tarball] = globSync('*.tgz', { cwd: directory });
  if (!tarball) throw new Error('the client was not packed');
  return join(directory, tarball);
}
