import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeAll } from '@jest/globals';
import { closeAtEnd } from './close-at-end.ts';

/** Makes a directory, which is removed after the test file. */
export async function makeDirectory(): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), 'orders-test-'));
  closeAtEnd({ close: () => rm(directory, { recursive: true, force: true }) });
  return directory;
}

/** A directory for one test file. */
export function useDirectory() {
  let directory: string;
  beforeAll(async () => {
    directory = await makeDirectory();
  });
  const path = (name: string) => join(directory, name);
  return {
    path,
    read: (name: string) => readFile(path(name), 'utf8'),
    async write(name: string, content: string | Buffer): Promise<string> {
      await writeFile(path(name), content);
      return path(name);
    },
  };
}
