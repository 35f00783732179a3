import { setTimeout as sleep } from 'node:timers/promises';
import { type Stoppable, startRestartable } from '@orders/test-services/restartable.ts';

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
  start: () => Promise<Stoppable>,
  print: (text: string) => void,
): Promise<Supervised> {
  const failed = Promise.withResolvers<string>();
  let startedAt = Date.now();
  let quickExits = 0;
  let isStopping = false;
  const process = await startRestartable(start, () => void restart());

  async function restart(): Promise<void> {
    quickExits = Date.now() - startedAt < QUICK_EXIT_MS ? quickExits + 1 : 0;
    if (quickExits >= MAX_QUICK_EXITS) return failed.resolve(`${name} does not keep running; see its log above`);
    print(`${name} exited; restarting it.`);
    await sleep(250);
    if (isStopping) return;
    startedAt = Date.now();
    await process.start().catch((error) => failed.resolve(`${name} cannot be restarted: ${error.message}`));
  }

  return {
    failed: failed.promise,
    async stop() {
      isStopping = true;
      await process.close();
    },
  };
}
