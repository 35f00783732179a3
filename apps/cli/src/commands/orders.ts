import type { Database } from '@orders/database/connect.ts';
import { type OrderJson, type OrderRow, toJson, toOrder } from '@orders/database/orders/order-rows.ts';
import { type ReviewDecision, reviewOrders } from '@orders/database/orders/review-orders.ts';
import { updateSearchTerms } from '@orders/database/orders/update-search-terms.ts';
import { type Connection, execute, inTransaction, run } from '@orders/database/run.ts';
import { REVIEW_STATES, type ReviewState } from '@orders/domain/receipt-states.ts';
import { type Severity, severityOf } from '@orders/domain/severity.ts';
import type { Option } from 'commander';
import { by, limit, name, OF_ACCOUNT, orderId } from '../arguments.ts';
import { argument, type CommandSpec, type Group, option } from '../command.ts';
import { describeOrder, tabulateOrders } from '../describe-order.ts';
import { Failure } from '../errors.ts';
import { findOrder, findReview, readOrderRows, readOrders } from '../list-orders.ts';
import { every } from '../report-every.ts';
import { requireAccount } from '../require.ts';
import { plural } from '../table.ts';

/** Orders between two progress lines, which take some seconds. */
const REPORT_INTERVAL = 50_000;

const ORDER_ID = argument('<order-id>', 'a whole number', orderId);

/** A command that decides about an order. @param rule which orders it can be used on. */
function reviewCommand(to: ReviewDecision, about: string, rule: string, ...more: Option[]): CommandSpec {
  return {
    about,
    arguments: [ORDER_ID],
    options: [by('who decides'), ...more],
    async run({ withDatabase }, id: number, options: { by: string; reason?: string }) {
      const order = await withDatabase((database) => review(database, id, { to, rule, ...options }));
      return [order, `Order ${id} is ${order.review_state}, by ${options.by}.`];
    },
  };
}

interface ListOptions {
  needsReview?: boolean;
  state?: ReviewState;
  account?: string;
  limit?: number;
  json?: boolean;
}

export const orders: Group = {
  about: 'written orders and their review',
  commands: {
    list: {
      about: 'orders by account, oldest first; those of a test account only with --account',
      options: [
        option('--needs-review', 'that need review').conflicts('state'),
        option('--state <state>', 'in this review state', REVIEW_STATES),
        OF_ACCOUNT,
        option('--limit <number>', 'maximum number of rows (default: all)', limit),
      ],
      examples: ['orders orders list --needs-review --account "Corner Bakery" --json'],
      run: ({ withDatabase, printList }, options: ListOptions) =>
        withDatabase(async (database) => {
          const account = options.account === undefined ? undefined : await requireAccount(database, options.account);
          const reviewState = options.needsReview ? 'needs_review' : options.state;
          const found = readOrders(database, { accountId: account?.account_id, reviewState, limit: options.limit });
          return printList(options, found, { table: tabulateOrders, none: 'There are no such orders.' });
        }),
    },
    show: {
      about: 'one order (personal data!)',
      arguments: [ORDER_ID],
      async run({ withDatabase }, id: number) {
        const [order, review] = await withDatabase(
          async (database) => [await findOrder(database, id), await findReview(database, id)] as const,
        );
        if (!order) throw noSuchOrder(id);
        return [order, describeOrder(order, review)];
      },
    },
    confirm: reviewCommand(
      'confirmed',
      'let an order that needs review be dispatched',
      'only one that needs review can be confirmed',
    ),
    reject: reviewCommand(
      'rejected',
      'keep an order that needs review from being dispatched',
      'only one that needs review can be rejected',
      option('--reason <text>', 'why', name('A reason')),
    ),
    'update-severity': {
      about: 'compute again whether stored orders can be delivered',
      help: `\
After an upgrade whose notes say that the rules of warnings or blockers changed. It can be interrupted and repeated.`,
      async run({ withDatabase, report }) {
        const onProgress = every(REPORT_INTERVAL, (orders) => report(`${plural(orders, 'order')}.`));
        const done = await withDatabase((database) => updateSeverities(database, onProgress));
        return [done, `${plural(done.changed, 'order')} of ${done.orders} got another severity.`];
      },
    },
    reopen: reviewCommand(
      'needs_review',
      'put an order that was rejected or cancelled, or awaits payment, into review',
      'only one that was rejected or cancelled, or awaits payment, can be reopened',
    ),
  },
};

async function review(
  database: Connection,
  id: number,
  { to, by, reason, rule }: { to: ReviewDecision; by: string; reason?: string; rule: string },
): Promise<OrderJson> {
  const accountId = (await findOrder(database, id))?.account_id;
  const outcome = accountId && (await reviewOrders(database, { accountId, orderIds: [id], to, by, reason }));
  if (!outcome) throw noSuchOrder(id);
  const [unchanged] = outcome.unchanged;
  if (unchanged?.held)
    throw new Failure(`Order ${id} was sent again with other content; choose a version in the portal first.`);
  if (unchanged) throw new Failure(`Order ${id} is ${unchanged.review_state}; ${rule}.`);
  return (await findOrder(database, id)) as OrderJson;
}

function noSuchOrder(id: number): Failure {
  return new Failure(`There is no order ${id}; orders orders list shows all.`);
}

type Rated = OrderRow & { severity: Severity };

const LOCK = `
select * from orders where account_id = $1 and order_id = any($2::bigint[]) order by order_id for update`;

const UPDATE = `
update orders o set severity = i.severity
from unnest($2::bigint[], $3::text[]) as i(order_id, severity)
where o.account_id = $1 and o.order_id = i.order_id`;

/** @returns the orders whose stored severity is another one than that of the domain. */
function outdatedOf(orders: readonly Rated[]): { row: Rated; severity: Severity }[] {
  return orders.flatMap((row) => {
    const severity = severityOf(toOrder(toJson(row)), row.warnings);
    return severity === row.severity ? [] : [{ row, severity }];
  });
}

/**
 * Computes the severity of all stored orders again, by account and id. Only orders that get another one are locked, those of an account and
 * a chunk in one transaction, so it can be interrupted and repeated.
 *
 * @param report is called after each chunk with the number of orders so far.
 */
async function updateSeverities(
  database: Database,
  report: (orders: number) => void,
): Promise<{ orders: number; changed: number }> {
  const total = { orders: 0, changed: 0 };
  for await (const orders of readOrderRows<Rated>(database, { includesTests: true })) {
    const outdated = Map.groupBy(outdatedOf(orders), ({ row }) => row.account_id);
    for (const [accountId, ofAccount] of outdated) {
      const ids = ofAccount.map(({ row }) => row.order_id);
      total.changed += await inTransaction(database, (transaction) => updateLocked(transaction, accountId, ids));
    }
    total.orders += orders.length;
    report(total.orders);
  }
  return total;
}

async function updateLocked(transaction: Connection, accountId: number, orderIds: readonly number[]): Promise<number> {
  // Read again: one of them may have been edited meanwhile.
  const outdated = outdatedOf(await run<Rated>(transaction, LOCK, [accountId, orderIds]));
  const ids = outdated.map(({ row }) => row.order_id);
  await execute(transaction, UPDATE, [accountId, ids, outdated.map(({ severity }) => severity)]);
  const waiting = outdated.filter(({ row }) => row.review_state === 'needs_review').map(({ row }) => row.order_id);
  if (waiting.length > 0) await updateSearchTerms(transaction, accountId, waiting);
  return ids.length;
}
