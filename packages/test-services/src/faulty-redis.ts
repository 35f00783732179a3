import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startRedis } from './redis.ts';

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
  let starts = 0;
  let closed = false;
  const start = (port?: number) => {
    starts += 1;
    return startRedis({ directory: join(directory, String(starts)), ...(port && { port }) });
  };
  let starting = start(preferredPort);
  let redis = await starting;
  return {
    url: redis.url,
    directory,
    stop: () => redis.child.stop('SIGKILL'),
    async startEmpty() {
      if (closed) throw new Error('this Redis was closed');
      starting = start(redis.port);
      redis = await starting;
    },
    freeze: () => void process.kill(redis.child.pid, 'SIGSTOP'),
    thaw: () => void process.kill(redis.child.pid, 'SIGCONT'),
    async close() {
      closed = true;
      const last = await starting.catch(() => redis);
      await last.child.stop('SIGKILL');
      await rm(directory, { recursive: true, force: true });
    },
  };
}
