import { closeDatabase, type Database, openDatabase } from '@orders/database/connect.ts';
import { listReview, type ReviewPage } from '@orders/portal/review/list-review.ts';
import type { ReviewFilter } from '@orders/portal/review/review-filter.ts';
import type { Bench } from '../bench.ts';
import { printProgress } from '../command-line.ts';
import { median } from '../measure/statistics.ts';
import { renderCosts } from '../measure/write-batch.ts';
import { table } from '../report/tables.ts';
import { casesFor, type ReviewCase } from './cases.ts';
import { fillReview } from './fill.ts';
import { measureWrites } from './write-cost.ts';

/** The cost of one page. */
interface ReviewCost {
  name: string;
  /** The median time in milliseconds. */
  ms: number;
  /** Postgres pages that its statements read from memory or disk. */
  buffers: number;
  orders: number;
  /** Whether the page reports more orders. */
  more: boolean;
  /** The scans of its statements. */
  plans: string[];
}

const TIMES = 21;
const PAGE = 50;
const FEW_ORDERS = 10_000;

/** Measures the list of orders that need review, alternating between a short and a long list in each case. */
export const review: Bench = {
  name: 'review',
  description: 'Opens, filters and searches a list of 10,000 orders that need review, then one of a million.',
  options: [
    ['--rows <number>', 'orders in the large list', 1_000_000],
    ['--write-rounds <number>', 'batches to write with and without the indexes of the list', 100],
  ],
  async run(services, { rows, writeRounds }) {
    const writes = await measureWrites(services, writeRounds);
    const lists: List[] = [];
    for (const orders of [FEW_ORDERS, rows]) {
      printProgress(`Filling a database with ${orders.toLocaleString('en')} orders that need review …`);
      const url = await services.fresh(`review_${orders}`);
      lists.push({ orders, url, accountId: await fillReview(url, orders), costs: [] });
    }
    printProgress('Measuring …');
    for (const index of casesFor(1).keys()) {
      const measured = await measureCase(lists, index);
      for (const [list, cost] of measured) list.costs.push(cost);
      const times = measured.map(([, { ms }]) => `${ms.toFixed(1)} ms`);
      printProgress(`    ${measured[0]?.[1].name}: ${times.join(', ')}`);
    }
    const sizes = lists.map(({ orders, costs }) => ({ orders, costs }));
    return { text: `${render(sizes)}\n\n${renderCosts(writes)}`, results: { sizes, writes } };
  },
};

interface List {
  orders: number;
  url: string;
  accountId: number;
  costs: ReviewCost[];
}

async function measureCase(lists: readonly List[], index: number): Promise<[List, ReviewCost][]> {
  const opened = lists.map((list) => openCase(list, casesFor(list.orders)[index] as ReviewCase));
  try {
    const explained: { seen: SeenPlans; page: ReviewPage }[] = [];
    for (const one of opened) explained.push(await one.explain());
    for (let time = 0; time < TIMES; time += 1) for (const one of opened) await one.run();
    return explained.map(({ seen, page }, number) => {
      const { list, name, times } = opened[number] as (typeof opened)[number];
      const [ms, more] = [median(times), page.next !== null];
      return [list, { name, ms, buffers: seen.buffers, orders: page.orders.length, more, plans: seen.nodes }];
    });
  } finally {
    await Promise.all(opened.map(({ close }) => close()));
  }
}

/** Opens two connections for a case: one reports plans, the other is timed. */
function openCase(list: List, { name, filter, deep }: ReviewCase) {
  const options = { url: list.url, poolSize: 1, prepared: true };
  const [told, timed] = [openDatabase(options), openDatabase(options)];
  const below = deep === undefined ? null : Math.floor(list.orders * (1 - deep)) + 1;
  const page = (on: Database) =>
    listReview(on, { ...NOTHING, ...filter, accountId: list.accountId }, { after: below, limit: PAGE });
  const times: number[] = [];
  return {
    list,
    name,
    times,
    async explain() {
      await page(timed);
      const seen = await listenToPlans(told);
      return { seen, page: await page(told) };
    },
    async run() {
      const startedAt = performance.now();
      await page(timed);
      times.push(performance.now() - startedAt);
    },
    close: () => Promise.all([closeDatabase(told), closeDatabase(timed)]),
  };
}

const NOTHING: Omit<ReviewFilter, 'accountId'> = {
  state: 'needs_review',
  searchTerms: null,
  channel: null,
  emirate: null,
  severity: null,
  mark: null,
  source: null,
  writtenAfter: null,
  writtenBefore: null,
};

/** Formats the costs of a page in the largest list compared with the smallest, one per line. */
function render(sizes: Pick<List, 'orders' | 'costs'>[]): string {
  const [few, many] = [sizes[0], sizes.at(-1)];
  if (!few || !many) return '';
  const head = [...sizes.map(({ orders }) => orders.toLocaleString('en')), 'ratio', 'pages read', 'orders', 'plan'];
  const rows = many.costs.map((cost, index) => {
    const first = few.costs[index] as ReviewCost;
    return [
      cost.name,
      ...sizes.map(({ costs }) => `${costs[index]?.ms.toFixed(1)} ms`),
      (cost.ms / first.ms).toFixed(1),
      `${first.buffers}, ${cost.buffers}`,
      `${first.orders}, ${cost.orders}${cost.more ? ' and more' : ''}`,
      cost.plans.join('; '),
    ];
  });
  return table(['a page of 50 orders', ...head], rows);
}

interface PlanNode {
  'Node Type': string;
  'Index Name'?: string;
  'Shared Hit Blocks'?: number;
  'Shared Read Blocks'?: number;
  Plans?: PlanNode[];
}

/** The actual plans of statements since `listenToPlans`. */
interface SeenPlans {
  /** The distinct scans of tables and indexes. */
  nodes: string[];
  /** The number of pages read. */
  buffers: number;
}

/** Makes Postgres report the plan of each later statement. The database must have one connection. */
async function listenToPlans(database: Database): Promise<SeenPlans> {
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
