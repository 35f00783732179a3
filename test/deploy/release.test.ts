import { cp, readFile, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { expect, test } from '@jest/globals';
import { VERSION } from '@orders/runtime/version.ts';
import { readRelease, VERSIONED } from '../../verification/release/release-facts.ts';
import { makeDirectory } from '../harness/directory.ts';

const ROOT = resolve(import.meta.dirname, '../..');
const directory = makeDirectory();

test('all files have one version, and it has notes', async () => {
  expect(await readRelease(ROOT)).toEqual({
    version: VERSION,
    notes: expect.stringContaining('docs/senders/README.md'),
  });
});

test('a release is rejected with one line that names what has another version or is missing', async () => {
  for (const path of ['package.json', 'CHANGELOG.md', ...VERSIONED]) await cp(join(ROOT, path), join(directory, path));
  const change = async (path: string, from: string, to: string) => {
    const text = await readFile(join(ROOT, path), 'utf8');
    expect(text).toContain(from);
    await writeFile(join(directory, path), text.replace(from, to));
  };
  await change('CHANGELOG.md', `## ${VERSION}`, '## 9.9.9');
  await expect(readRelease(directory)).rejects.toThrow(`CHANGELOG.md has no notes under "## ${VERSION}"`);
  await change('packages/client/php/orders.php', VERSION, '9.9.9');
  await expect(readRelease(directory)).rejects.toThrow(
    `package.json has ${VERSION}, but packages/client/php/orders.php has 9.9.9`,
  );
});
