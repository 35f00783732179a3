import { once } from 'node:events';
import { join } from 'node:path';
import { type Child, startChild } from '@orders/test-services/child.ts';
import type { LoadRequest } from './driver.ts';
import type { LoadResult } from './run-load.ts';

/** The process that sends the load. */
export interface Driver {
  child: Child;
  /** @throws {Error} if the process exits before its reply. */
  run(request: LoadRequest): Promise<LoadResult>;
}

export async function startDriver(): Promise<Driver> {
  const child = await startChild(process.execPath, [join(import.meta.dirname, 'driver.ts')], {
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
    serialization: 'advanced',
  });
  return {
    child,
    async run(request) {
      const reply = once(child.process, 'message');
      child.process.send(request);
      const [result] = await Promise.race([
        reply,
        child.exited.then(() => Promise.reject(new Error('the load driver exited unexpectedly'))),
      ]);
      return result as LoadResult;
    },
  };
}
