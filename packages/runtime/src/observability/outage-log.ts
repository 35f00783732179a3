import { describeError } from './describe-error.ts';
import type { Logger } from './logger.ts';

/** Logs one line when a service becomes unavailable and one when it is available again. */
export interface OutageLog {
  failed(error: unknown): void;
  recovered(): void;
}

/** @param service its name, such as `queue`. */
export function createOutageLog(logger: Logger, service: string, consequence: string): OutageLog {
  let isUnavailable = false;
  return {
    failed(error) {
      if (!isUnavailable) logger.warn(`${service} unavailable; ${consequence}`, { error: describeError(error) });
      isUnavailable = true;
    },
    recovered() {
      if (isUnavailable) logger.info(`${service} available again`);
      isUnavailable = false;
    },
  };
}
