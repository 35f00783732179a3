import type { Database } from '@orders/database/connect.ts';
import { run } from '@orders/database/run.ts';

const CHAIN = { name: 'chain-audit-events', text: 'select chain_audit_events($1::int) as chained' };

/**
 * Gives audit events that have none a position in the chain, see docs/decisions/audit-log.md.
 *
 * @param maxRows max events of this round; fewer if they are long.
 * @returns their number; 0 also while another session does it.
 */
export async function chainAuditEvents(database: Database, maxRows: number): Promise<number> {
  const [row] = await run<{ chained: number }>(database, CHAIN, [maxRows]);
  return row?.chained ?? 0;
}

/** Interval between rounds in milliseconds. */
export const CHAIN_INTERVAL_MS = 1000;
/** Max events of one round, so that its statement ends in time. */
const MAX_ROWS = 500;

/** Chains audit events until none waits. Another worker may do it at the same time; then this one does nothing. */
export async function chainAudit(database: Database, stopping: AbortSignal): Promise<void> {
  while (!stopping.aborted && (await chainAuditEvents(database, MAX_ROWS)) > 0);
}
