import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { resolve } from 'node:path';
import { beforeAll } from '@jest/globals';
import { baseEnvironment } from '@orders/test-services/child.ts';
import { installBarriers } from './barriers.ts';
import { QUEUE_KIND } from './queue.ts';
import { runCommand } from './run-command.ts';
import type { TestAccount } from './stack.ts';
import { useStack } from './use-stack.ts';

/** The main file of the CLI. */
export const MAIN = resolve(import.meta.dirname, '../../apps/cli/src/main.ts');

/** Output and exit code of a run of `orders send`. */
export interface Sent {
  code: number | null;
  stdout: string;
  stderr: string;
}

/** A running `orders send`. */
export interface Sending {
  kill(signal: NodeJS.Signals): void;
  /** Its stderr so far. */
  said(): string;
  ended: Promise<Sent>;
}

/** An account's credentials and the URL of the service. */
export interface Sender {
  url: string;
  key: string;
  secret?: string | null;
}

/** Runs `orders send` in this process. `input` is read in these chunks; `terminal` are properties of stderr, such as `isTTY`. */
export async function send(
  sender: Sender,
  args: string[],
  input: string | readonly Buffer[] = '',
  terminal = {},
): Promise<Sent> {
  const chunks = typeof input === 'string' ? [Buffer.from(input)] : input;
  return runCommand(['send', ...args], environmentOf(sender), { input: chunks, terminal });
}

function environmentOf({ url, key, secret }: Sender): Record<string, string> {
  return {
    NODE_ENV: 'production',
    ORDERS_URL: url,
    ORDERS_API_KEY: key,
    ...(secret && { ORDERS_SIGNING_SECRET: secret }),
  };
}

/** Starts a service for one test file, with the barriers, all open. */
export function useSenderService() {
  const { stack, api } = useStack({ queue: QUEUE_KIND, intake: true });
  beforeAll(async () => {
    await installBarriers(stack.database.knex);
    await stack.worker();
  });
  const rowsOf = (table: string, { id }: TestAccount) => stack.database.knex(table).where({ account_id: id });
  return {
    stack,
    /** A new account with its credentials. */
    newSender: async (): Promise<Sender & TestAccount> => ({
      ...(await stack.account({ signing: true })),
      url: api.url,
    }),
    receiptsOf: (account: TestAccount) => rowsOf('receipts', account),
    ordersOf: (account: TestAccount) => rowsOf('orders', account).orderBy('source_order_id'),
    keysOf: (account: TestAccount) => rowsOf('order_keys', account),
    idsOf: (account: TestAccount): Promise<string[]> =>
      rowsOf('orders', account).orderBy('source_order_id').pluck('source_order_id'),
  };
}

/** Checks a file with `--dry-run --json`, without a service. */
export async function dryRun(file: string, ...args: string[]) {
  const { code, stdout, stderr } = await send({ url: '', key: '' }, [file, '--dry-run', '--json', ...args]);
  return { code, stderr, ...JSON.parse(stdout || '{}') };
}

/** One order a line, with these ids and nothing else. */
export function ordersOf(ids: readonly unknown[]): string {
  return ids.map((id) => `${JSON.stringify({ source_order_id: id })}\n`).join('');
}

/** Removes the progress lines from stderr; they are only printed if a run takes long. */
export function withoutProgress(stderr: string): string {
  return stderr.replace(/^.*( orders?, | outcomes? known).*\n/gm, '');
}

/** Starts `orders send` as a separate process. */
export function startSend(sender: Sender, args: string[], input = '', flags: string[] = [], env = {}): Sending {
  const child = spawn(process.execPath, [...flags, MAIN, 'send', ...args], {
    env: { ...baseEnvironment(), ...environmentOf(sender), ...env },
    stdio: ['pipe', 'pipe', 'pipe'],
  });
  child.stdin.on('error', () => {});
  child.stdin.end(input);
  const printed = { stdout: '', stderr: '' };
  for (const name of ['stdout', 'stderr'] as const)
    child[name].setEncoding('utf8').on('data', (text: string) => {
      printed[name] += text;
    });
  return {
    kill: (signal) => void child.kill(signal),
    said: () => printed.stderr,
    ended: once(child, 'close').then(([code]) => ({ code, ...printed })),
  };
}
