import { type ChildProcess, execFile, type SpawnOptions, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { promisify } from 'node:util';

/** A detached child process: it does not receive the terminal's Ctrl-C, so that its parent can stop processes in order. */
export interface Child {
  readonly process: ChildProcess;
  readonly pid: number;
  readonly isRunning: boolean;
  /** Settles when the process has ended. */
  readonly exited: Promise<unknown>;
  /** Sends a signal and waits for the exit; kills the process after `timeoutMs` milliseconds. */
  stop(signal?: NodeJS.Signals, timeoutMs?: number): Promise<void>;
}

/** @throws {Error} if the program cannot be started. */
export async function startChild(command: string, args: string[], options: SpawnOptions = {}): Promise<Child> {
  const child = spawn(command, args, { stdio: 'ignore', detached: true, ...options });
  await once(child, 'spawn');
  const exited = once(child, 'exit');
  const isRunning = () => child.exitCode === null && child.signalCode === null;
  return {
    process: child,
    pid: child.pid as number,
    get isRunning() {
      return isRunning();
    },
    exited,
    async stop(signal = 'SIGTERM', timeoutMs = 30_000) {
      if (!isRunning()) return;
      child.kill(signal);
      const timer = setTimeout(() => child.kill('SIGKILL'), timeoutMs);
      await exited;
      clearTimeout(timer);
    },
  };
}

/** The command line of a running process, or an empty string. */
export function processArguments(pid: number): string {
  if (!(pid > 0)) return '';
  return spawnSync('ps', ['-o', 'args=', '-p', String(pid)], { encoding: 'utf8' }).stdout ?? '';
}

/** The running child processes of a process. */
export async function childrenOf(pid: number): Promise<number[]> {
  const running = await listRunning();
  return running.filter(({ parent }) => parent === pid).map((child) => child.pid);
}

/** The processes in `pids` that still run. */
export async function stillRunning(pids: readonly number[]): Promise<number[]> {
  const running = new Set((await listRunning()).map(({ pid }) => pid));
  return pids.filter((pid) => running.has(pid));
}

/** Signals processes, except those that have ended. */
export function signalAll(pids: readonly number[], name: NodeJS.Signals): void {
  for (const pid of pids) {
    try {
      process.kill(pid, name);
    } catch {}
  }
}

/** Excludes zombies. */
async function listRunning(): Promise<{ pid: number; parent: number }[]> {
  const { stdout } = await promisify(execFile)('ps', ['-A', '-o', 'pid=,ppid=,stat='], { maxBuffer: 2 ** 24 });
  return stdout
    .trim()
    .split('\n')
    .map((line) => line.trim().split(/\s+/))
    .filter(([, , state]) => !state?.startsWith('Z'))
    .map(([pid, parent]) => ({ pid: Number(pid), parent: Number(parent) }));
}

/** The variables of this process's environment that a child process gets: PATH, and Node's cache of compiled modules. */
export function baseEnvironment(): Record<string, string> {
  const { PATH = '', NODE_COMPILE_CACHE } = process.env;
  return { PATH, ...(NODE_COMPILE_CACHE && { NODE_COMPILE_CACHE }) };
}
