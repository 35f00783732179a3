import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';

const execute = promisify(execFile);
const ROOT = resolve(import.meta.dirname, '../..');

/** The newest tagged release or candidate, or null without one; a candidate such as v0.3.0-rc.1 is older than v0.3.0. */
export async function newestRelease({ except }: { except?: string } = {}): Promise<string | null> {
  const tags = await git('-c', 'versionsort.suffix=-', 'tag', '--list', 'v*', '--sort=-version:refname');
  return tags.split('\n').find((tag) => tag && tag !== except) ?? null;
}

/** Puts a revision of this repository, with what its apps need installed, into an empty directory. */
export async function checkOut(revision: string, directory: string): Promise<void> {
  const commit = await git('rev-parse', '--verify', `${revision}^{commit}`);
  const archive = spawn('git', ['archive', commit], { cwd: ROOT, stdio: ['ignore', 'pipe', 'inherit'] });
  const unpack = spawn('tar', ['-x', '-C', directory], { stdio: [archive.stdout, 'inherit', 'inherit'] });
  const [[archived], [unpacked]] = await Promise.all([once(archive, 'exit'), once(unpack, 'exit')]);
  if (archived !== 0 || unpacked !== 0) throw new Error(`cannot unpack ${revision}`);
  const { packageManager } = JSON.parse(await readFile(join(directory, 'package.json'), 'utf8'));
  const install = ['--yes', packageManager, 'install', '--frozen-lockfile', '--prod', '--ignore-scripts'];
  const cwd = { cwd: directory };
  // What this working tree has installed is mostly what the revision needs.
  await execute('npx', [...install, '--offline'], cwd).catch(() => execute('npx', install, cwd));
}

/** Runs git in this repository. @returns what it prints, without the last line feed. @throws {Error} if it fails. */
export async function git(...args: string[]): Promise<string> {
  return (await execute('git', args, { cwd: ROOT })).stdout.trim();
}
