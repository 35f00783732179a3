import { logError } from './log-error.ts';

/** Ends the process on the first SIGTERM, after `close` has finished pending work. */
export function endOnSignal(close: () => Promise<unknown>): void {
  process.once('SIGTERM', () => {
    close().then(
      () => process.exit(0),
      (error) => {
        logError(error);
        process.exit(1);
      },
    );
  });
}
