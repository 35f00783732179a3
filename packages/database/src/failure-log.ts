import { describeError } from '@orders/runtime/observability/describe-error.ts';
import { createOutageLog, type Logger } from '@orders/runtime/observability/logger.ts';
import type { Database } from './connect.ts';
import { isStorageUnavailable } from './database-errors.ts';
import { isReachable } from './schema-state.ts';

/** Logs a failure of repeated work once until the work succeeds again, as an outage of Postgres or, if Postgres is available, as a bug. */
export interface FailureLog {
  failed(error: unknown): Promise<void>;
  succeeded(): void;
}

/**
 * @param work its name, such as `batch`.
 * @param consequence of a failure, the same for outages and bugs.
 */
export function createFailureLog(database: Database, logger: Logger, work: string, consequence: string): FailureLog {
  const outage = createOutageLog(logger, 'Postgres', consequence);
  let isBugLogged = false;
  return {
    async failed(error) {
      if (isStorageUnavailable(error) || !(await isReachable(database))) return outage.failed(error);
      if (!isBugLogged) {
        logger.error(`${work} failed; ${consequence}`, { error: describeError(error, { stack: true }) });
      }
      isBugLogged = true;
    },
    succeeded() {
      outage.recovered();
      isBugLogged = false;
    },
  };
}
