import { once } from 'node:events';
import { join } from 'node:path';
import { type Child, startChild } from '@orders/test-services';
import type { LoadOrder } from './driver.ts';
import type { LoadResult } from './run-load.ts';

/** The process that offers the load. */
export interface Driver {
  child: Child;
  /** @throws {Error} when the process ends before its answer. */
  run(order: LoadOrder): Promise<LoadResult>;
}

export async function startDriver(): Promise<Driver> {
  const child = await startChild(process.execPath, [join(import.meta.dirname, 'driver.ts')], {
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
    serialization: 'advanced',
  });
  return {
    child,
    async run(order) {
      const answer = once(child.process, 'message');
      child.process.send(order);
      const [result] = await Promise.race([
        answer,
        child.exited.then(() => Promise.reject(new Error('the load driver ended by itself'))),
      ]);
      return result as LoadResult;
    },
  };
}
