import { execFile } from 'node:child_process';
import { globSync } from 'node:fs';
import { cp, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, delimiter, join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { readBlocks } from './markdown-blocks.ts';

/** A page contains this sentence if its examples depend on each other. */
const ONE_SHELL = 'Paste them into one shell, in order.';

/** The scripts of a page: all examples in one script if they depend on each other, else one script per example. */
export function scriptsOf(markdown: string): string[][] {
  const examples = readBlocks(markdown).filter(({ language }) => language === 'bash');
  const texts = examples.map(({ text }) => text);
  return markdown.includes(ONE_SHELL) ? [texts] : texts.map((text) => [text]);
}

/**
 * Runs blocks in sequence in one new shell, in a new directory, with a minimal environment.
 *
 * @param files the files and directories that the page tells the reader to create first.
 * @returns the output of each block.
 * @throws {Error} with stderr, if a block ends with an exit code other than 0.
 */
export async function paste(
  blocks: readonly string[],
  env: Record<string, string>,
  files: readonly string[] = [],
): Promise<string[]> {
  const directory = await mkdtemp(join(tmpdir(), 'orders-page-'));
  const [home, work, script] = [join(directory, 'home'), join(directory, 'work'), join(directory, 'script')];
  const mark = `ended-${Math.random()}`;
  const path = (process.env.PATH ?? '').split(delimiter).filter((entry) => !entry.includes('node_modules'));
  const usual = { PATH: path.join(delimiter), HOME: home, LANG: 'C.UTF-8' };
  try {
    await Promise.all([mkdir(home), mkdir(work)]);
    for (const file of files) await cp(file, join(work, basename(file)), { recursive: true });
    await writeFile(script, blocks.map((block) => `${block}\necho "${mark} $?"\n`).join(''));
    const options = { cwd: work, env: { ...usual, ...env }, timeout: 120_000 };
    const { stdout, stderr } = await promisify(execFile)('bash', [script], options);
    const parts = stdout.split(new RegExp(`${mark} (\\d+)\\n`));
    return blocks.map((block, index) => {
      const exitCode = parts[2 * index + 1];
      if (exitCode !== '0') throw new Error(`ended with ${exitCode}: ${block}\n${stderr}`);
      return parts[2 * index] ?? '';
    });
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}

/** Whether an output matches the one on a page, ignoring white space; `…` on the page matches anything. */
export function isAsShown(printed: string, shown: string): boolean {
  const squeeze = (text: string) => text.replaceAll(/\s+/g, '');
  const pattern = squeeze(shown)
    .split('…')
    .map((part) => part.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&'))
    .join('.*?');
  return new RegExp(`^${pattern}$`).test(squeeze(printed));
}

/** The output of each example on a page: the block of plain text directly after it, or null. */
export function shownOutputs(markdown: string): (string | null)[] {
  const blocks = readBlocks(markdown);
  return blocks.flatMap(({ language, heading }, index) => {
    const next = blocks[index + 1];
    if (language !== 'bash') return [];
    return [next?.language === 'text' && next.heading === heading ? next.text : null];
  });
}

const PACK = resolve(import.meta.dirname, '../../packages/bundle/src/pack-client.ts');

/** Packs the client as for publishing, and returns the path of the tarball. */
export async function packClient(directory: string): Promise<string> {
  await promisify(execFile)(process.execPath, [PACK, directory]);
  const [tarball] = globSync('*.tgz', { cwd: directory });
  if (!tarball) throw new Error('the client was not packed');
  return join(directory, tarball);
}
