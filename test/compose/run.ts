import { spawn } from 'node:child_process';

/**
 * Runs a program to its end, out of reach of the terminal's Ctrl-C.
 *
 * @param options `signal` ends it; `show` passes what it prints on to stderr as well.
 * @returns its stdout.
 * @throws {Error} one line with the last that it said, unless it ends with 0.
 */
export function run(
  command: string,
  args: readonly string[],
  options: { env?: NodeJS.ProcessEnv; signal?: AbortSignal; show?: boolean } = {},
): Promise<string> {
  const { env, signal, show } = options;
  const child = spawn(command, args, { stdio: ['ignore', 'pipe', 'pipe'], detached: true, env, signal });
  const said = { stdout: '', stderr: '' };
  for (const name of ['stdout', 'stderr'] as const) {
    child[name].setEncoding('utf8').on('data', (text: string) => {
      said[name] += text;
      if (show) process.stderr.write(text);
    });
  }
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (code) => {
      const last = said.stderr.trim().split('\n').at(-1);
      if (code === 0) resolve(said.stdout);
      else
        reject(
          new Error(
            `${command} ${args
              .filter((arg) => !/^--|\//.test(arg))
              .slice(0, 6)
              .join(' ')}: ${last || `exit code ${code}`}`,
          ),
        );
    });
  });
}

/** Asks every half second until there is an answer. */
export async function until<T>(
  what: string,
  seconds: number,
  signal: AbortSignal,
  ask: () => Promise<T | undefined | false>,
): Promise<T> {
  for (const startedAt = Date.now(); Date.now() - startedAt < seconds * 1000; await pause(500, signal)) {
    const answer = await ask();
    if (answer) return answer;
  }
  throw new Error(`waited ${seconds} s for: ${what}`);
}

/** @throws the reason of the signal, as soon as there is one. */
export function pause(milliseconds: number, signal: AbortSignal): Promise<void> {
  signal.throwIfAborted();
  return new Promise((resolve, reject) => {
    const end = () => {
      clearTimeout(timer);
      reject(signal.reason);
    };
    const timer = setTimeout(() => {
      signal.removeEventListener('abort', end);
      resolve();
    }, milliseconds);
    signal.addEventListener('abort', end, { once: true });
  });
}
