import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { baseEnvironment, freePort, startChild } from '@orders/test-services';

const COMMAND = fileURLToPath(import.meta.resolve('@stoplight/prism-cli/dist/index.js'));

/** A proxy that validates requests and replies against an OpenAPI document. */
export interface Prism {
  url: string;
  close(): Promise<void>;
}

/**
 * Starts `prism proxy --errors`: requests and replies that break the document become errors.
 *
 * @param documentUrl of the OpenAPI document.
 * @param upstream the URL to which the proxy forwards requests.
 */
export async function startPrism(documentUrl: string, upstream: string): Promise<Prism> {
  const port = await freePort();
  const args = ['proxy', documentUrl, upstream, '--errors', '--port', String(port)];
  const child = await startChild(process.execPath, [COMMAND, ...args], {
    env: baseEnvironment(),
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const lines = createInterface({ input: child.process.stdout as NodeJS.ReadableStream });
  const listening = new Promise<void>((resolve) => {
    lines.on('line', (line) => line.includes('listening') && resolve());
  });
  const ended = once(child.process, 'exit').then(() => {
    throw new Error('prism ended before it listened');
  });
  await Promise.race([listening, ended]);
  ended.catch(() => {});
  return { url: `http://127.0.0.1:${port}`, close: () => child.stop() };
}
