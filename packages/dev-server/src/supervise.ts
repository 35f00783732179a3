import { setTimeout as sleep } from 'node:timers/promises';

/** A process that may exit on its own. */
interface ManagedProcess {
  exited: Promise<unknown>;
  stop(): Promise<void>;
}

export interface Supervised {
  /** Settles with a message when the process does not keep running. */
  failed: Promise<string>;
  /** Stops it permanently. */
  stop(): Promise<void>;
}

const MAX_QUICK_EXITS = 3;
const QUICK_EXIT_MS = 5000;

/**
 * Starts a process and restarts it whenever it exits, until it has exited three times in a row within seconds of its start.
 *
 * @throws the error of the first start.
 */
export async function supervise(
  name: string,
  start: () => Promise<ManagedProcess>,
  print: (text: string) => void,
): Promise<Supervised> {
  const failed = Promise.withResolvers<string>();
  let stopping = false;
  let current = await start();

  async function watch(): Promise<void> {
    for (let quickExits = 0; ; ) {
      const startedAt = Date.now();
      await current.exited;
      if (stopping) return;
      quickExits = Date.now() - startedAt < QUICK_EXIT_MS ? quickExits + 1 : 0;
      if (quickExits >= MAX_QUICK_EXITS) return failed.resolve(`${name} does not keep running; see its log above`);
      print(`${name} exited; restarting it.`);
      await sleep(250);
      if (stopping) return;
      current = await start();
      if (stopping) return current.stop();
    }
  }
  const watching = watch().catch((error) => failed.resolve(`${name} cannot be restarted: ${error.message}`));

  return {
    failed: failed.promise,
    async stop() {
      stopping = true;
      await current.stop();
      await watching;
    },
  };
}
