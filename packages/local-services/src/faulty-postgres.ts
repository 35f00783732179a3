import { setTimeout as sleep } from 'node:timers/promises';
import { childrenOf, stillRunning } from './child.ts';
import { type LocalPostgres, startPostgres } from './postgres.ts';

/** A Postgres that can be killed, shut down, frozen, and started again on its data and its port. */
export interface FaultyPostgres {
  /** Of the database `orders`. */
  url: string;
  readonly isRunning: boolean;
  start(): Promise<void>;
  /** Ends it as a power cut would, all its processes at once. */
  kill(): Promise<void>;
  /** Its fast shutdown: sessions are cut off, what is committed is written out. */
  shutDown(): Promise<void>;
  freeze(): Promise<void>;
  thaw(): void;
  /** Ends it for good; its data stays. */
  close(): Promise<void>;
}

/**
 * @param options `onDeath` is told the last lines of its log when it ends by itself.
 * @throws {Error} one line that says what is missing.
 */
export async function startFaultyPostgres(options: {
  directory: string;
  password: string;
  port: number;
  settings?: string[];
  onDeath?: (lastLines: readonly string[]) => void;
}): Promise<FaultyPostgres> {
  let closed = false;
  let isRunning = false;
  let frozen: number[] = [];
  const ended = new WeakSet<LocalPostgres>();

  async function launch(): Promise<LocalPostgres> {
    const started = await startPostgres(options);
    isRunning = true;
    void started.exited.then(() => {
      isRunning = false;
      if (!ended.has(started)) options.onDeath?.(started.lastLines);
    });
    return started;
  }

  let starting = launch();
  let postgres = await starting;

  // The postmaster first: stopped, it makes no more processes.
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
      ended.add(postgres);
      await freeze();
      const family = frozen;
      frozen = [];
      for (const pid of family) signal(pid, 'SIGKILL');
      await postgres.exited;
      // As long as one of them lives, no other may start on the data.
      while ((await stillRunning(family)).length > 0) await sleep(10);
    },
    async shutDown() {
      ended.add(postgres);
      await postgres.stop('SIGINT');
    },
    freeze,
    thaw,
    async close() {
      closed = true;
      const last = await starting.catch(() => postgres);
      ended.add(last);
      thaw();
      // At once, yet, unlike after a kill, without leaving shared memory behind.
      await last.stop('SIGQUIT');
    },
  };
}

/** One that is gone by now needs none. */
function signal(pid: number, name: NodeJS.Signals): void {
  try {
    process.kill(pid, name);
  } catch {}
}
