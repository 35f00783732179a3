import { mkdtempSync } from 'node:fs';
import { readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { closeAtEnd } from './close-at-end.ts';

/** Makes a directory, which is removed after the test file. */
export function makeDirectory(): string {
  const directory = mkdtempSync(join(tmpdir(), 'orders-test-'));
  closeAtEnd({ close: () => rm(directory, { recursive: true, force: true }) });
  return directory;
}

/** Reads and writes the files of such a directory. */
export function useDirectory() {
  const directory = makeDirectory();
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
