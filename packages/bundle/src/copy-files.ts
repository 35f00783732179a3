import { cp, glob, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { RolldownOutput } from 'rolldown';

/** The name of a package in `node_modules`. */
export const nameOf = (path: string): string => path.slice(path.lastIndexOf('node_modules/') + 'node_modules/'.length);

/** Copies manifest and licence of each bundled package: its licence asks for that, and scanners find the packages by their manifests. */
export async function copyLicences(output: RolldownOutput['output'], to: string): Promise<void> {
  const modules = output.flatMap((file) => (file.type === 'chunk' ? Object.keys(file.modules) : []));
  const packages = new Set(modules.flatMap((id) => /^\/.*\/node_modules\/(@[^/]+\/)?[^/]+(?=\/)/.exec(id)?.[0] ?? []));
  for (const directory of packages) {
    const { version } = JSON.parse(await readFile(join(directory, 'package.json'), 'utf8'));
    const patterns = ['package.json', '{LICENSE,License,license,LICENCE,licence,NOTICE,COPYING}*'];
    await copyFiles(directory, join(to, `${nameOf(directory)}@${version}`), patterns);
  }
}

export async function copyFiles(from: string, to: string, patterns: string[]): Promise<void> {
  for await (const file of glob(patterns, { cwd: from })) await cp(join(from, file), join(to, file));
}
