import { once } from 'node:events';
import { startChild } from '@orders/test-services/child.ts';

const TIMEOUT_MS = 10_000;

/**
 * Runs a program to its end, out of reach of the terminal's Ctrl-C.
 *
 * @param options `signal` ends it, with all that it started; `show` passes what it prints on to stderr as well; `cwd`: where it runs.
 * @returns its stdout.
 * @throws {Error} one line with its last output, unless its exit code is 0.
 */
export async function run(
  command: string,
  args: readonly string[],
  { env, signal, show, cwd }: { env?: NodeJS.ProcessEnv; signal?: AbortSignal; show?: boolean; cwd?: string } = {},
): Promise<string> {
  signal?.throwIfAborted();
  const child = await startChild(command, [...args], { stdio: ['ignore', 'pipe', 'pipe'], env, cwd });
  const output = { stdout: '', stderr: '' };
  for (const name of ['stdout', 'stderr'] as const) {
    child.process[name]?.setEncoding('utf8').on('data', (text: string) => {
      output[name] += text;
      if (show) process.stderr.write(text);
    });
  }
  const end = () => {
    endGroup(child.pid, 'SIGTERM');
    setTimeout(() => endGroup(child.pid, 'SIGKILL'), TIMEOUT_MS).unref();
  };
  signal?.addEventListener('abort', end, { once: true });
  const [code] = await once(child.process, 'close').finally(() => signal?.removeEventListener('abort', end));
  signal?.throwIfAborted();
  if (code === 0) return output.stdout;
  const what = [command, ...args].filter((word) => !/^--|\//.test(word)).slice(0, 6);
  const last = output.stderr.trim().split('\n').at(-1);
  throw new Error(`${what.join(' ')}: ${last || `exit code ${code}`}`);
}

/** The process and those that it started, as far as they still run. */
function endGroup(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(-pid, signal);
  } catch {}
}

const startedAt = performance.now();

/** Prints to stderr, after the seconds since the start. */
export function say(text: string): void {
  const seconds = ((performance.now() - startedAt) / 1000).toFixed(0).padStart(4);
  process.stderr.write(`${seconds} s  ${text}\n`);
}

/** @returns what the signals that end a program abort, from now on. */
export function abortOnSignal(): AbortSignal {
  const ended = new AbortController();
  for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
    process.on(name, () => ended.abort(new Error(`ended by ${name}; what was started is removed`)));
  }
  return ended.signal;
}

/** What a part of the run is given. */
export interface RunContext {
  /** Orders a second while services restart. */
  rate: number;
  /** Ends what is under way. */
  signal: AbortSignal;
}

/** What a part of the run found out. */
export interface Report {
  lines: string[];
  /** Empty if all is well. */
  violations: string[];
}

/** A line of the report. */
export const line = (about: string, found: string) => `${about.padEnd(18)} ${found}`;
