import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startRedis } from './redis.ts';
import { startRestartable } from './restartable.ts';

/** A Redis that can be killed, started empty on the same port, frozen and thawed. */
export interface FaultyRedis {
  url: string;
  /** Each start uses a new data directory below this one. */
  directory: string;
  /** Kills it, as a power cut would. */
  stop(): Promise<void>;
  startEmpty(): Promise<void>;
  freeze(): void;
  thaw(): void;
  /** Stops it permanently and removes its data. */
  close(): Promise<void>;
}

/** @throws {Error} with one line that says what is missing. */
export async function startFaultyRedis(preferredPort?: number): Promise<FaultyRedis> {
  const directory = await mkdtemp(join(tmpdir(), 'orders-redis-'));
  let [starts, port] = [0, preferredPort];
  const redis = await startRestartable(
    async () => {
      starts += 1;
      const started = await startRedis({ directory: join(directory, String(starts)), ...(port && { port }) });
      port = started.port;
      return started.child;
    },
    () => {},
  );
  return {
    url: `redis://127.0.0.1:${port}`,
    directory,
    stop: async () => void (await redis.end('SIGKILL')),
    startEmpty: redis.start,
    freeze: () => void process.kill(redis.current.pid, 'SIGSTOP'),
    thaw: () => void process.kill(redis.current.pid, 'SIGCONT'),
    async close() {
      await redis.close('SIGKILL');
      await rm(directory, { recursive: true, force: true });
    },
  };
}
