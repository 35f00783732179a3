import { describeError } from './describe-error.ts';
import type { Logger } from './logger.ts';

/** Says once that something is away and once that it is back, however often it is asked for meanwhile. */
export interface OutageLog {
  met(error: unknown, options?: { stack?: boolean }): void;
  over(): void;
}

/**
 * @param what is away, such as `the queue`; it and what follows from that make the line.
 */
export function createOutageLog(logger: Logger, what: string, consequence: string): OutageLog {
  let isAway = false;
  return {
    met(error, options) {
      if (!isAway) logger.warn(`${what} does not answer; ${consequence}`, { error: describeError(error, options) });
      isAway = true;
    },
    over() {
      if (isAway) logger.info(`${what} answers again`);
      isAway = false;
    },
  };
}
