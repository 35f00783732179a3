import { join } from 'node:path';
import { startProgram } from '@orders/test-services/apps.ts';
import type { Child } from '@orders/test-services/child.ts';
import type { LoadResult } from '@orders/test-services/load/run-load.ts';
import type { DriverMessage, DriverTask, OrdersLoad } from './driver.ts';
import type { PoliteLoad, PoliteRun } from './isolation/polite-sender.ts';

/** The process that sends the load. */
export interface Driver {
  child: Child;
  /** @throws {Error} if the process exits before its reply. */
  send(orders: OrdersLoad): Promise<LoadResult>;
  /**
   * Lets a polite account send during other work.
   *
   * @param meanwhile can wait until a number of its requests have a reply.
   */
  sendPolitely(
    load: PoliteLoad,
    meanwhile: (answered: (count: number) => Promise<void>) => Promise<unknown>,
  ): Promise<PoliteRun>;
}

export async function startDriver(): Promise<Driver> {
  const child = await startProgram(join(import.meta.dirname, 'driver.ts'), process.env, { messages: true });
  let onMessage: (message: DriverMessage) => void = () => {};
  child.process.on('message', (message: DriverMessage) => onMessage(message));

  function run<Result>(task: DriverTask, onAnswered: (answered: number) => void = () => {}): Promise<Result> {
    const done = Promise.withResolvers<Result>();
    onMessage = (message) => {
      if ('result' in message) done.resolve(message.result as Result);
      else onAnswered(message.answered);
    };
    child.process.send(task);
    return Promise.race([
      done.promise,
      child.exited.then(() => Promise.reject(new Error('the load driver exited unexpectedly'))),
    ]);
  }

  return {
    child,
    send: (orders) => run({ orders }),
    async sendPolitely(polite, meanwhile) {
      let answered = 0;
      let onCount: () => void = () => {};
      const result = run<PoliteRun>({ polite }, (count) => {
        answered = count;
        onCount();
      });
      const untilAnswered = (count: number) =>
        new Promise<void>((resolve) => {
          onCount = () => {
            if (answered >= count) resolve();
          };
          onCount();
        });
      try {
        const failed = result.then(() => new Promise<never>(() => {}));
        await Promise.race([meanwhile(untilAnswered), failed]);
      } finally {
        if (child.process.connected) child.process.send('stop');
      }
      return result;
    },
  };
}

/** Runs work with a driver of its own. */
export async function withDriver<Result>(work: (driver: Driver) => Promise<Result>): Promise<Result> {
  const driver = await startDriver();
  try {
    return await work(driver);
  } finally {
    await driver.child.stop();
  }
}
