/** A process that may end on its own. */
export interface Stoppable {
  readonly exited: Promise<unknown>;
  stop(signal?: NodeJS.Signals, timeoutMs?: number): Promise<void>;
}

/** A process that can be ended and started again, until it is closed. */
export interface Restartable<Process extends Stoppable> {
  /** The one that was started last. */
  readonly current: Process;
  /** @throws {Error} if it was closed. */
  start(): Promise<void>;
  /** Ends it on purpose, by a signal or by other work. @returns the process that was ended. */
  end(how?: NodeJS.Signals | ((current: Process) => Promise<void>)): Promise<Process>;
  /** Ends it for good, also if it is just being started. */
  close(signal?: NodeJS.Signals): Promise<void>;
}

/**
 * Starts a process.
 *
 * @param onUnexpectedExit is called when it exits without `end` or `close`.
 * @throws the error of the first start.
 */
export async function startRestartable<Process extends Stoppable>(
  launch: () => Promise<Process>,
  onUnexpectedExit: (ended: Process) => void,
): Promise<Restartable<Process>> {
  const expected = new WeakSet<Process>();
  let closed = false;

  async function launchWatched(): Promise<Process> {
    const started = await launch();
    void started.exited.then(() => {
      if (!expected.has(started)) onUnexpectedExit(started);
    });
    return started;
  }

  async function end(how: Parameters<Restartable<Process>['end']>[0]): Promise<Process> {
    const ending = current;
    expected.add(ending);
    await (typeof how === 'function' ? how(ending) : ending.stop(how));
    return ending;
  }

  let starting = launchWatched();
  let current = await starting;
  return {
    get current() {
      return current;
    },
    async start() {
      if (closed) throw new Error('it was closed');
      starting = launchWatched();
      current = await starting;
    },
    end,
    async close(signal) {
      closed = true;
      current = await starting.catch(() => current);
      await end(signal);
    },
  };
}
