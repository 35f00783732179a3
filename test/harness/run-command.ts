import { Readable } from 'node:stream';
import { runCli } from '@orders/cli/run-cli.ts';
import type { Stack } from './stack.ts';

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
