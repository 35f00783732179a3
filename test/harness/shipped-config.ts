import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';

const DEPLOY = resolve(import.meta.dirname, '../../deploy');

/**
 * A configuration as it is shipped, with what a test needs otherwise in its place.
 * @param path below `deploy`, such as `haproxy/haproxy.cfg`.
 * @param replacements what stands there, each once, and what is to.
 * @throws {Error} where the shipped file has changed so that something to replace is not there.
 */
export async function readShippedConfig(path: string, replacements: Record<string, string>): Promise<string> {
  let config = await readFile(resolve(DEPLOY, path), 'utf8');
  for (const [from, to] of Object.entries(replacements)) {
    if (!config.includes(from)) throw new Error(`deploy/${path} has no more: ${from}`);
    config = config.replace(from, () => to);
  }
  return config;
}
