import { type ChildProcess, execFile, type SpawnOptions, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { promisify } from 'node:util';

/** A process of ours: it does not get the terminal's Ctrl-C, so that its starter can end things in order. */
export interface Child {
  readonly process: ChildProcess;
  readonly pid: number;
  /** Settles when it has ended. */
  readonly exited: Promise<unknown>;
  /** Sends a signal and waits for the end; after `timeoutMs` milliseconds it is killed. */
  stop(signal?: NodeJS.Signals, timeoutMs?: number): Promise<void>;
}

/** @throws {Error} when the program cannot be started. */
export async function startChild(command: string, args: string[], options: SpawnOptions = {}): Promise<Child> {
  const child = spawn(command, args, { stdio: 'ignore', detached: true, ...options });
  await once(child, 'spawn');
  const exited = once(child, 'exit');
  return {
    process: child,
    pid: child.pid as number,
    exited,
    async stop(signal = 'SIGTERM', timeoutMs = 30_000) {
      if (child.exitCode !== null || child.signalCode !== null) return;
      child.kill(signal);
      const timer = setTimeout(() => child.kill('SIGKILL'), timeoutMs);
      await exited;
      clearTimeout(timer);
    },
  };
}

/** The command line of a process that runs, or nothing. */
export function processArguments(pid: number): string {
  if (!(pid > 0)) return '';
  return spawnSync('ps', ['-o', 'args=', '-p', String(pid)], { encoding: 'utf8' }).stdout ?? '';
}

/** The processes that this one started and that still run. */
export async function childrenOf(pid: number): Promise<number[]> {
  const running = await listRunning();
  return running.filter(({ parent }) => parent === pid).map((one) => one.pid);
}

/** Those of these processes that still run. */
export async function stillRunning(pids: readonly number[]): Promise<number[]> {
  const running = new Set((await listRunning()).map(({ pid }) => pid));
  return pids.filter((pid) => running.has(pid));
}

/** A process that has ended and only waits for its parent to take note of it does not run. */
async function listRunning(): Promise<{ pid: number; parent: number }[]> {
  const { stdout } = await promisify(execFile)('ps', ['-A', '-o', 'pid=,ppid=,stat='], { maxBuffer: 2 ** 24 });
  return stdout
    .trim()
    .split('\n')
    .map((line) => line.trim().split(/\s+/))
    .filter(([, , state]) => !state?.startsWith('Z'))
    .map(([pid, parent]) => ({ pid: Number(pid), parent: Number(parent) }));
}
