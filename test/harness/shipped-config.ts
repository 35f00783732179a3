import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';

const DEPLOY = resolve(import.meta.dirname, '../../deploy');

/**
 * Reads a shipped configuration and replaces parts of it for a test.
 * @param path below `deploy`, such as `haproxy/haproxy.cfg`.
 * @param replacements by the text to replace, which must occur once.
 * @throws {Error} if the shipped file no longer contains a text to replace.
 */
export async function readShippedConfig(path: string, replacements: Record<string, string>): Promise<string> {
  let config = await readFile(resolve(DEPLOY, path), 'utf8');
  for (const [from, to] of Object.entries(replacements)) {
    if (!config.includes(from)) throw new Error(`deploy/${path} no longer contains: ${from}`);
    config = config.replace(from, () => to);
  }
  return config;
}
