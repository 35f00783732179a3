import { setTimeout as sleep } from 'node:timers/promises';
import { childrenOf, signalAll, stillRunning } from './child.ts';
import { type LocalPostgres, startPostgres } from './postgres.ts';
import { startRestartable } from './restartable.ts';

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
  let frozen: number[] = [];
  const restartable = await startRestartable(
    () => startPostgres(options),
    ({ lastLines }) => options.onUnexpectedExit?.(lastLines),
  );

  // The postmaster first, so that it starts no more processes.
  async function freeze({ pid: postmaster } = restartable.current): Promise<void> {
    signalAll([postmaster], 'SIGSTOP');
    const children = await childrenOf(postmaster);
    signalAll(children, 'SIGSTOP');
    frozen = [...children, postmaster];
  }

  async function kill(postgres: LocalPostgres): Promise<void> {
    await freeze(postgres);
    const processes = frozen;
    frozen = [];
    signalAll(processes, 'SIGKILL');
    await postgres.exited;
    // Postgres must not be restarted on the data while a process of the old one lives.
    while ((await stillRunning(processes)).length > 0) await sleep(10);
  }

  function thaw(): void {
    signalAll(frozen, 'SIGCONT');
    frozen = [];
  }

  return {
    url: restartable.current.url,
    get isRunning() {
      return restartable.current.isRunning;
    },
    start: restartable.start,
    kill: async () => void (await restartable.end(kill)),
    shutDown: async () => void (await restartable.end('SIGINT')),
    freeze: () => freeze(),
    thaw,
    async close() {
      thaw();
      // Immediate shutdown: as fast as a kill, but releases shared memory.
      await restartable.close('SIGQUIT');
    },
  };
}
