import type { Database } from '../connect.ts';
import { run } from './run.ts';

const CHAIN = { name: 'chain-audit-events', text: 'select chain_audit_events($1::int) as chained' };

/**
 * Gives audit events that have none a place in the chain (docs/decisions/audit-log.md).
 *
 * @param maxRows max events of this round; fewer if they are long.
 * @returns their number; 0 also while another session does it.
 */
export async function chainAuditEvents(database: Database, maxRows: number): Promise<number> {
  const [row] = await run<{ chained: number }>(database, CHAIN, [maxRows]);
  return row?.chained ?? 0;
}
