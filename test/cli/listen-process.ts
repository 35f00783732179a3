import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createApiKey } from '@orders/domain';
import { baseEnvironment } from '@orders/test-services';
import { sign } from '../harness/sign.ts';
import { until } from '../harness/until.ts';

const MAIN = join(import.meta.dirname, '../../apps/cli/src/main.ts');

/** `orders listen` in its own process, on its own port. */
export interface Listener {
  url: string;
  key: string;
  secret: string;
  /** The output so far, including the start message. */
  readonly stdout: string;
  readonly stderr: string;
  /** The output after the start message. */
  readonly shown: string;
  /** With `--json`: waits for this many lines. */
  // biome-ignore lint/suspicious/noExplicitAny: tests read lines of every shape.
  lines(count: number): Promise<any[]>;
  /** With `--json`: waits for the line of a request. */
  // biome-ignore lint/suspicious/noExplicitAny: as above.
  line(requestId: string | null): Promise<any>;
  /** Sends an order as a webhook, signed unless `headers` say otherwise. */
  webhook(order: unknown, headers?: Record<string, string>, path?: string): Promise<Response>;
  /** Sends a signal and returns the exit code. */
  end(signal?: NodeJS.Signals): Promise<number | null>;
}

const running = new Set<Listener>();

/** Ends listeners that tests left running. */
export async function endListeners(): Promise<void> {
  await Promise.all([...running].map((listener) => listener.end('SIGKILL')));
}

// biome-ignore lint/suspicious/noExplicitAny: as above.
function linesOf(text: string): any[] {
  return text
    .split('\n')
    .slice(0, -1)
    .map((line) => JSON.parse(line));
}

/** @param env added to a generated key and secret; an undefined value removes them. */
export async function startListener(
  argv: string[] = [],
  env: Record<string, string | undefined> = {},
): Promise<Listener> {
  const own = { ORDERS_API_KEY: createApiKey(), ORDERS_SIGNING_SECRET: `secret "of" ${createApiKey()}` };
  const child = spawn(process.execPath, [MAIN, 'listen', '--port', '0', ...argv], {
    env: { ...baseEnvironment(), NODE_ENV: 'production', ...own, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const written = { stdout: '', stderr: '' };
  for (const name of ['stdout', 'stderr'] as const)
    child[name].setEncoding('utf8').on('data', (text: string) => (written[name] += text));
  const closed = once(child, 'close');
  const started = /Listening on (\S+)\/ingest\/webhook[\s\S]*# Ctrl-C ends it\.\n\n/;
  const [text, url = ''] = await until('it listens', async () => {
    if (child.exitCode !== null) throw new Error(written.stderr);
    return started.exec(written.stdout) ?? started.exec(written.stderr);
  });
  const made = (name: string) => new RegExp(`export ${name}=(\\S+)`).exec(text)?.[1] ?? '';
  const key = made('ORDERS_API_KEY') || own.ORDERS_API_KEY;
  const secret = made('ORDERS_SIGNING_SECRET') || own.ORDERS_SIGNING_SECRET;
  const listener: Listener = {
    url,
    key,
    secret,
    get stdout() {
      return written.stdout;
    },
    get stderr() {
      return written.stderr;
    },
    get shown() {
      return (written.stdout + written.stderr).replace(text, '');
    },
    lines: (count) =>
      until(`${count} lines`, async () => {
        const lines = linesOf(written.stdout);
        return lines.length >= count && lines;
      }),
    line: (requestId) =>
      until('its line', async () => linesOf(written.stdout).find((line) => line.request_id === requestId)),
    webhook(order, headers = {}, path = '/ingest/webhook') {
      const body = typeof order === 'string' ? order : JSON.stringify(order);
      return fetch(url + path, {
        method: 'POST',
        headers: {
          Authorization: `Bearer ${key}`,
          'Content-Type': 'application/json',
          'x-service-signature': `sha256=${sign(secret, body)}`,
          ...headers,
        },
        body,
      });
    },
    async end(signal = 'SIGINT') {
      running.delete(listener);
      child.kill(signal);
      const [code] = await closed;
      return code;
    },
  };
  running.add(listener);
  return listener;
}
