import type { Database } from '@orders/database/connect.ts';

interface PlanNode {
  'Node Type': string;
  'Index Name'?: string;
  'Shared Hit Blocks'?: number;
  'Shared Read Blocks'?: number;
  Plans?: PlanNode[];
}

/** The actual plans of statements since `listenToPlans`. */
export interface SeenPlans {
  /** The distinct scans of tables and indexes. */
  nodes: string[];
  /** The number of pages read. */
  buffers: number;
}

/** Makes Postgres report the plan of each later statement. The database must have one connection. */
export async function listenToPlans(database: Database): Promise<SeenPlans> {
  const seen: SeenPlans = { nodes: [], buffers: 0 };
  const client = await database.pool.connect();
  await client.query(`
    load 'auto_explain';
    set auto_explain.log_min_duration = 0; set auto_explain.log_analyze = on; set auto_explain.log_buffers = on;
    set auto_explain.log_timing = off; set auto_explain.log_format = json; set auto_explain.log_level = notice`);
  client.on('notice', ({ message = '' }) => {
    if (!message.includes('"Plan"')) return;
    const { Plan: plan } = JSON.parse(message.slice(message.indexOf('{'))) as { Plan: PlanNode };
    seen.buffers += (plan['Shared Hit Blocks'] ?? 0) + (plan['Shared Read Blocks'] ?? 0);
    for (const node of scansOf(plan)) if (!seen.nodes.includes(node)) seen.nodes.push(node);
  });
  client.release();
  return seen;
}

function scansOf(node: PlanNode): string[] {
  const type = node['Node Type'];
  const isTableScan = /Scan$/.test(type) && !/CTE|Subquery|WorkTable|Function/.test(type);
  const here = isTableScan ? [[type, node['Index Name']].filter(Boolean).join(' ')] : [];
  return [...here, ...(node.Plans ?? []).flatMap(scansOf)];
}
