import { closeDatabase, type Database, listReview, openDatabase, type ReviewFilter } from '@orders/database';
import { median } from '../measure/statistics.ts';
import type { Services } from '../services.ts';
import { casesFor, type ReviewCase } from './cases.ts';
import { fillReview } from './fill.ts';
import { listenToPlans } from './plans.ts';

/** What one page cost. */
export interface ReviewCost {
  name: string;
  /** The median, milliseconds. */
  ms: number;
  /** Pages of Postgres that its statements read, from memory or disk. */
  buffers: number;
  orders: number;
  /** Whether it said that the list goes on. */
  more: boolean;
  /** How its statements found rows. */
  plans: string[];
}

export interface ReviewResult {
  sizes: { orders: number; costs: ReviewCost[] }[];
}

const TIMES = 21;
const PAGE = 50;

/** Measures the list of orders that need review, with few of them and with many. */
export async function runReview(
  services: Services,
  sizes: readonly number[],
  say: (text: string) => void,
): Promise<ReviewResult> {
  const result: ReviewResult = { sizes: [] };
  for (const orders of sizes) {
    say(`Filling a database with ${orders.toLocaleString('en')} orders that need review …`);
    const url = await services.fresh(`review_${orders}`);
    const accountId = await fillReview(url, orders, say);
    say('Measuring …');
    const costs: ReviewCost[] = [];
    for (const one of casesFor(orders)) {
      costs.push(await measureCase(url, accountId, orders, one));
      const { name, ms, buffers } = costs.at(-1) as ReviewCost;
      say(`    ${name}: ${ms.toFixed(1)} ms, ${buffers} pages`);
    }
    result.sizes.push({ orders, costs });
  }
  return result;
}

async function measureCase(url: string, accountId: number, orders: number, one: ReviewCase): Promise<ReviewCost> {
  const options = { poolSize: 1, prepared: true };
  const explained = openDatabase({ url, ...options });
  const database = openDatabase({ url, ...options });
  const filter = { ...NOTHING, ...one.filter, accountId };
  const below = one.deep === undefined ? null : Math.floor(orders * (1 - one.deep)) + 1;
  const page = (on: Database) => listReview(on, filter, { below, limit: PAGE });
  try {
    const plans = await listenToPlans(explained);
    await page(explained);
    const { orders: found, nextBelow } = await page(database);
    const times: number[] = [];
    while (times.length < TIMES) {
      const startedAt = performance.now();
      await page(database);
      times.push(performance.now() - startedAt);
    }
    return {
      name: one.name,
      ms: median(times),
      buffers: plans.buffers,
      orders: found.length,
      more: nextBelow !== null,
      plans: plans.nodes,
    };
  } finally {
    await Promise.all([closeDatabase(explained), closeDatabase(database)]);
  }
}

const NOTHING: Omit<ReviewFilter, 'accountId'> = {
  state: 'needs_review',
  words: null,
  channel: null,
  emirate: null,
  warned: null,
  writtenAfter: null,
  writtenBefore: null,
};

/** What a page costs in the largest list ÷ in the smallest, in lines. */
export function renderReview({ sizes }: ReviewResult): string {
  const [few, many] = [sizes[0], sizes.at(-1)];
  if (!few || !many) return '';
  const head = `| A page of 50 orders | ${sizes.map(({ orders }) => orders.toLocaleString('en')).join(' | ')} | ratio | pages read | orders | plan |`;
  const lines = many.costs.map((cost, index) => {
    const first = few.costs[index] as ReviewCost;
    const times = sizes.map(({ costs }) => `${costs[index]?.ms.toFixed(1)} ms`).join(' | ');
    const [pages, found] = [
      `${first.buffers}, ${cost.buffers}`,
      `${first.orders}, ${cost.orders}${cost.more ? ' and more' : ''}`,
    ];
    return `| ${cost.name} | ${times} | ${(cost.ms / first.ms).toFixed(1)} | ${pages} | ${found} | ${cost.plans.join('; ')} |`;
  });
  return [head, head.replaceAll(/[^|]+/g, ' --- '), ...lines].join('\n');
}
