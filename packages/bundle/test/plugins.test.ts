import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { rolldown } from 'rolldown';
import { escapeNonLatin1 } from '../src/plugins.ts';

let directory: string;
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'orders-bundle-'));
});
afterAll(() => rm(directory, { recursive: true }));

test('characters beyond Latin-1 are escaped, and mean the same in strings, templates and patterns', async () => {
  const file = join(directory, 'words.js');
  const words = "['دبي', `é 😀`, /^[٠-٩]$/.test('٣'), /^[😀-😃]$/u.test('😁'), '😁'.replace(/😁/u, '…')]";
  await writeFile(file, `export const words = ${words};`);
  const build = await rolldown({ input: file, plugins: [escapeNonLatin1()] });
  const { output } = await build.generate();
  expect(output[0].code).toMatch(/^[\0-\u00ff]*$/);
  const { words: bundled } = await import(`data:text/javascript,${encodeURIComponent(output[0].code)}`);
  expect(bundled).toEqual(['دبي', 'é 😀', true, true, '…']);
});
