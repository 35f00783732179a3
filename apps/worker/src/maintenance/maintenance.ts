import type { openKnex } from '@orders/database/connect.ts';
import type { Logger } from '@orders/runtime/observability/logger.ts';
import type { MaintenanceStep, WorkerMetrics } from '../metrics.ts';

/** Context of a maintenance run. */
export interface Maintenance {
  knex: ReturnType<typeof openKnex>;
  /** Aborted when the worker drains; long steps then stop early. */
  stopping: AbortSignal;
  logger: Logger;
  metrics: WorkerMetrics;
  /** Runs one step. A failure is logged and counted under its name; the steps after it still run. */
  step(name: MaintenanceStep, run: () => Promise<unknown>): Promise<void>;
}
