import { closeSync, openSync } from 'node:fs';
import { get } from 'node:http';
import { resolve } from 'node:path';
import { text } from 'node:stream/consumers';
import { baseEnvironment, type Child, startChild } from './child.ts';
import { until } from './until.ts';

const ROOT = resolve(import.meta.dirname, '../../..');

/** The program of an app. @param root of the working tree that contains it; by default this one. */
export const mainOf = (app: string, root = ROOT): string => resolve(root, 'apps', app, 'src/main.ts');

/** The output of a process: printed, readable from pipes, dropped, or appended to a file. */
export type Output = 'inherit' | 'pipe' | 'ignore' | { file: string };

/**
 * Starts a program with this Node.
 *
 * @param env is added to the base environment.
 * @param options `nodeArgs` are for Node itself; `messages` opens a channel for structured-clone messages.
 */
export async function startProgram(
  main: string,
  env: NodeJS.ProcessEnv,
  options: { args?: string[]; nodeArgs?: string[]; output?: Output; messages?: boolean } = {},
): Promise<Child> {
  const { args = [], nodeArgs = [], output = 'inherit', messages = false } = options;
  const target = typeof output === 'object' ? openSync(output.file, 'a') : output;
  try {
    return await startChild(process.execPath, [...nodeArgs, main, ...args], {
      env: { ...baseEnvironment(), ...env },
      stdio: ['ignore', target, target, ...(messages ? ['ipc' as const] : [])],
      serialization: 'advanced',
    });
  } finally {
    if (typeof target === 'number') closeSync(target);
  }
}

/**
 * Runs a command of the CLI of a working tree.
 *
 * @returns what it prints.
 * @throws {Error} with its complaint, unless its exit code is 0.
 */
export async function runOrdersOf(root: string, env: NodeJS.ProcessEnv, ...args: string[]): Promise<string> {
  const child = await startProgram(mainOf('cli', root), { LOG_LEVEL: 'error', ...env }, { args, output: 'pipe' });
  const { stdout, stderr } = child.process;
  if (!stdout || !stderr) throw new Error('no pipes');
  const [printed, complaint] = await Promise.all([text(stdout), text(stderr), child.exited]);
  if (child.process.exitCode !== 0) throw new Error(`orders ${args.join(' ')}: ${complaint}`);
  return printed;
}

/** Two cores may start six processes at once, under load. */
const START_SECONDS = 120;

/**
 * Waits until the app with this admin port is ready.
 *
 * @param options `child` is its process.
 * @throws {Error} if the process ends before, or it is not ready after two minutes.
 */
export async function untilReady(adminPort: number, options: { child?: Child; everyMs?: number } = {}): Promise<void> {
  await untilItReplies(
    `the app on admin port ${adminPort} is ready`,
    `http://127.0.0.1:${adminPort}/health/ready`,
    (status) => status === 200,
    options,
  );
}

/** Waits until a server that has no admin port replies on its port. @throws {Error} as `untilReady` does. */
export async function untilListening(port: number, options: { child?: Child } = {}): Promise<void> {
  await untilItReplies(`a server listens on port ${port}`, `http://127.0.0.1:${port}`, (status) => status > 0, {
    everyMs: 50,
    ...options,
  });
}

async function untilItReplies(
  what: string,
  url: string,
  isWanted: (status: number) => boolean,
  { child, everyMs = 20 }: { child?: Child; everyMs?: number },
): Promise<void> {
  const probe = async () => {
    if (child && !child.isRunning) throw new Error(`process ${child.pid} ended before it replied on ${url}`);
    return isWanted(await statusOf(url));
  };
  await until(what, probe, { seconds: START_SECONDS, everyMs });
}

/** The status of a reply, on a connection of its own; 0 without one. */
function statusOf(url: string): Promise<number> {
  return new Promise((resolve) => {
    get(url, { agent: false }, (response) => resolve(response.resume().statusCode ?? 0)).on('error', () => resolve(0));
  });
}
