import { setTimeout as sleep } from 'node:timers/promises';

/** A process that can end by itself. */
interface Ending {
  exited: Promise<unknown>;
  stop(): Promise<void>;
}

export interface Supervised {
  /** Settles, with what to tell, when it would not keep running. */
  failed: Promise<string>;
  /** Ends it for good. */
  stop(): Promise<void>;
}

const MAX_QUICK_ENDS = 3;
const QUICK_MS = 5000;

/**
 * Starts something and starts it again whenever it ends by itself, until it has ended three times in a row within seconds of its start.
 *
 * @throws what the first start throws.
 */
export async function supervise(
  name: string,
  start: () => Promise<Ending>,
  say: (text: string) => void,
): Promise<Supervised> {
  const failed = Promise.withResolvers<string>();
  let stopping = false;
  let current = await start();

  async function watch(): Promise<void> {
    for (let quickEnds = 0; ; ) {
      const startedAt = Date.now();
      await current.exited;
      if (stopping) return;
      quickEnds = Date.now() - startedAt < QUICK_MS ? quickEnds + 1 : 0;
      if (quickEnds >= MAX_QUICK_ENDS) return failed.resolve(`${name} does not keep running; its log above says why`);
      say(`${name} ended by itself; starting it again.`);
      await sleep(250);
      if (stopping) return;
      current = await start();
      if (stopping) return current.stop();
    }
  }
  const watching = watch().catch((error) => failed.resolve(`${name} cannot be started again: ${error.message}`));

  return {
    failed: failed.promise,
    async stop() {
      stopping = true;
      await current.stop();
      await watching;
    },
  };
}
