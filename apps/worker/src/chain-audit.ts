import type { Database } from '@orders/database/connect.ts';
import { chainAuditEvents } from './chain-audit-sql.ts';

/** Interval between rounds in milliseconds. */
export const CHAIN_INTERVAL_MS = 1000;
/** Max events of one round, so that its statement ends in time. */
const MAX_ROWS = 500;

/** Chains audit events until none waits. Another worker may do it at the same time; then this one does nothing. */
export async function chainAudit(database: Database, stopping: AbortSignal): Promise<void> {
  while (!stopping.aborted && (await chainAuditEvents(database, MAX_ROWS)) > 0);
}
