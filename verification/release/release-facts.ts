import { readFile } from 'node:fs/promises';
import { join } from 'node:path';

/** Where the version stands besides the root `package.json`. */
const VERSIONS: Record<string, RegExp> = {
  'packages/client/src/version.ts': /^export const VERSION = '(.+)';$/m,
  'packages/client/python/orders.py': /^VERSION = "(.+)"$/m,
  'packages/client/php/orders.php': /^const VERSION = '(.+)';$/m,
  'deploy/kubernetes/example/orders/kustomization.yaml': /^ {4}newTag: (.+)$/m,
};

/** The files with a version besides the root `package.json`. */
export const VERSIONED: readonly string[] = Object.keys(VERSIONS);

/** What is released. */
export interface Release {
  version: string;
  /** The version's part of the changelog, without its heading; Markdown. */
  notes: string;
}

/**
 * Reads the version and its notes from a working tree.
 *
 * @throws {Error} one line that names all files with another version, or says that there are no notes.
 */
export async function readRelease(root: string): Promise<Release> {
  const read = (path: string) => readFile(join(root, path), 'utf8');
  const { version } = JSON.parse(await read('package.json'));
  const others: string[] = [];
  for (const [path, pattern] of Object.entries(VERSIONS)) {
    const found = pattern.exec(await read(path))?.[1] ?? 'no version';
    if (found !== version) others.push(`${path} has ${found}`);
  }
  if (others.length > 0) throw new Error(`package.json has ${version}, but ${others.join(', ')}`);
  const parts = (await read('CHANGELOG.md')).split(/^## /m);
  const notes = parts
    .find((part) => part.startsWith(`${version}\n`))
    ?.slice(version.length)
    .trim();
  if (!notes) throw new Error(`CHANGELOG.md has no notes under "## ${version}"`);
  return { version, notes };
}
