import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { resolve } from 'node:path';
import { Readable } from 'node:stream';
import { runCli } from '@orders/cli/run-cli.ts';
import { baseEnvironment } from '@orders/test-services/child.ts';
import { until } from '@orders/test-services/until.ts';
import type { Stack } from './stack.ts';

/** The main file of the CLI. */
export const MAIN = resolve(import.meta.dirname, '../../apps/cli/src/main.ts');

/** What a command printed, and its exit code. */
export interface Outcome {
  code: number;
  stdout: string;
  stderr: string;
}

/** A data directory without files of `npm start`. */
export const NOWHERE = '/nonexistent';

/**
 * Runs a command of the CLI in this process.
 *
 * @param options `input` is stdin, in chunks; `terminal` are properties of stderr, such as `isTTY`.
 */
export async function runCommand(
  argv: readonly string[],
  env: NodeJS.ProcessEnv,
  {
    input = [],
    terminal = {},
    localDirectory = NOWHERE,
  }: { input?: readonly Buffer[]; terminal?: object; localDirectory?: string } = {},
): Promise<Outcome> {
  const printed = { stdout: '', stderr: '' };
  const stream = (name: keyof typeof printed) => ({ write: (text: string) => (printed[name] += text) });
  const stdin = Readable.from(input);
  const stderr = { ...stream('stderr'), ...terminal };
  const code = await runCli(argv, { stdin, stdout: stream('stdout'), stderr, env, localDirectory });
  return { code, ...printed };
}

/** Runs a command of operators on the database of a stack. */
export const runOrders = ({ database }: Stack, ...argv: string[]): Promise<Outcome> =>
  runCommand(argv, { DATABASE_URL: database.url });

/** An account's credentials and the URL of the service. */
export interface Sender {
  url: string;
  key: string;
  secret?: string | null;
}

/** The environment of a sender's command. */
export const envOf = ({ url, key, secret }: Sender): Record<string, string> => ({
  NODE_ENV: 'production',
  ORDERS_URL: url,
  ORDERS_API_KEY: key,
  ...(secret && { ORDERS_SIGNING_SECRET: secret }),
});

/** What a running command has printed. */
interface Printed {
  stdout: string;
  stderr: string;
}

const untilLines = (printed: Printed, count: number): Promise<string[]> =>
  until(`${count} lines`, async () => {
    const lines = printed.stdout.split('\n').slice(0, -1);
    return lines.length >= count && lines;
  });

/** Starts a command in this process that runs until it is interrupted. */
export function startCommand(argv: readonly string[], env: NodeJS.ProcessEnv) {
  const printed = { stdout: '', stderr: '' };
  const stream = (name: keyof Printed) => ({ write: (text: string) => (printed[name] += text) });
  const { promise, resolve: interrupt } = Promise.withResolvers<void>();
  const streams = { stdout: stream('stdout'), stderr: stream('stderr') };
  const ended = runCli(argv, { ...streams, env, untilInterrupted: () => promise });
  return {
    printed,
    interrupt: () => interrupt(),
    ended: async (): Promise<Outcome> => ({ code: await ended, ...printed }),
    /** Its lines on stdout, once there are `count`. */
    lines: (count: number) => untilLines(printed, count),
  };
}

/** Starts a command as a process, as users do. `flags` are those of Node. */
export function spawnCommand(argv: readonly string[], env: Record<string, string>, input = '', flags: string[] = []) {
  const child = spawn(process.execPath, [...flags, MAIN, ...argv], { env: { ...baseEnvironment(), ...env } });
  child.stdin.on('error', () => {});
  child.stdin.end(input);
  const printed = { stdout: '', stderr: '' };
  for (const name of ['stdout', 'stderr'] as const)
    child[name].setEncoding('utf8').on('data', (text: string) => {
      printed[name] += text;
    });
  return {
    child,
    printed,
    lines: (count: number) => untilLines(printed, count),
    /** If a signal killed it, its code is null. */
    ended: once(child, 'close').then(([code]): Outcome => ({ code, ...printed })),
  };
}
