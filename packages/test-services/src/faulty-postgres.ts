import { setTimeout as sleep } from 'node:timers/promises';
import { childrenOf, stillRunning } from './child.ts';
import { type LocalPostgres, startPostgres } from './postgres.ts';

/** A Postgres that can be killed, shut down, frozen, and restarted with its data and port. */
export interface FaultyPostgres {
  /** The URL of the database `orders`. */
  url: string;
  readonly isRunning: boolean;
  start(): Promise<void>;
  /** Kills all its processes at once, as a power cut would. */
  kill(): Promise<void>;
  /** A fast shutdown: terminates sessions and flushes commits. */
  shutDown(): Promise<void>;
  freeze(): Promise<void>;
  thaw(): void;
  /** Stops it permanently; its data stays. */
  close(): Promise<void>;
}

/**
 * @param options.onUnexpectedExit receives the last lines of the log if Postgres exits on its own.
 * @throws {Error} with one line that says what is missing.
 */
export async function startFaultyPostgres(options: {
  directory: string;
  password: string;
  port: number;
  settings?: string[];
  onUnexpectedExit?: (lastLines: readonly string[]) => void;
}): Promise<FaultyPostgres> {
  let closed = false;
  let isRunning = false;
  let frozen: number[] = [];
  const expectedExits = new WeakSet<LocalPostgres>();

  async function launch(): Promise<LocalPostgres> {
    const started = await startPostgres(options);
    isRunning = true;
    void started.exited.then(() => {
      isRunning = false;
      if (!expectedExits.has(started)) options.onUnexpectedExit?.(started.lastLines);
    });
    return started;
  }

  let starting = launch();
  let postgres = await starting;

  // The postmaster first, so that it starts no more processes.
  async function freeze(): Promise<void> {
    signal(postgres.pid, 'SIGSTOP');
    const children = await childrenOf(postgres.pid);
    for (const pid of children) signal(pid, 'SIGSTOP');
    frozen = [...children, postgres.pid];
  }

  function thaw(): void {
    for (const pid of frozen) signal(pid, 'SIGCONT');
    frozen = [];
  }

  return {
    url: postgres.url,
    get isRunning() {
      return isRunning;
    },
    async start() {
      if (closed) throw new Error('this Postgres was closed');
      starting = launch();
      postgres = await starting;
    },
    async kill() {
      expectedExits.add(postgres);
      await freeze();
      const processes = frozen;
      frozen = [];
      for (const pid of processes) signal(pid, 'SIGKILL');
      await postgres.exited;
      // Postgres must not be restarted on the data while a process of the old one lives.
      while ((await stillRunning(processes)).length > 0) await sleep(10);
    },
    async shutDown() {
      expectedExits.add(postgres);
      await postgres.stop('SIGINT');
    },
    freeze,
    thaw,
    async close() {
      closed = true;
      const last = await starting.catch(() => postgres);
      expectedExits.add(last);
      thaw();
      // Immediate shutdown: as fast as a kill, but releases shared memory.
      await last.stop('SIGQUIT');
    },
  };
}

/** Ignores processes that have ended. */
function signal(pid: number, name: NodeJS.Signals): void {
  try {
    process.kill(pid, name);
  } catch {}
}
