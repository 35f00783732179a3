import type { Database } from '@orders/database/connect.ts';
import type { OrderJson } from '@orders/database/orders/order-rows.ts';
import { type ReviewDecision, reviewOrders } from '@orders/database/orders/review-orders.ts';
import { REVIEW_STATES } from '@orders/domain/receipt-states.ts';
import { type Command, Option } from 'commander';
import { json, limit, name, orderId } from '../arguments.ts';
import { whoami } from '../audit.ts';
import type { Context } from '../context.ts';
import { describeOrder, tabulateOrders } from '../describe-order.ts';
import { Failure } from '../errors.ts';
import { findOrder, findReview, readOrders } from '../list-orders.ts';
import { requireAccount } from '../require.ts';

const REVIEWS: { verb: string; to: ReviewDecision; description: string; rule: string }[] = [
  {
    verb: 'confirm',
    to: 'confirmed',
    description: 'let an order that needs review be dispatched',
    rule: 'only one that needs review can be confirmed',
  },
  {
    verb: 'reject',
    to: 'rejected',
    description: 'keep an order that needs review from being dispatched',
    rule: 'only one that needs review can be rejected',
  },
  {
    verb: 'reopen',
    to: 'needs_review',
    description: 'put a rejected or cancelled order back into review',
    rule: 'only one that was rejected or cancelled can be reopened',
  },
];

/** `orders orders list | show | confirm | reject | reopen`. */
export function addOrderCommands(program: Command, context: Context): void {
  const orders = program.command('orders').description('written orders and their review');

  orders
    .command('list')
    .description('orders, oldest first')
    .addOption(new Option('--needs-review', 'that need review').conflicts('state'))
    .addOption(new Option('--state <state>', 'in this review state').choices(REVIEW_STATES))
    .option('--account <account>', 'of this account (id or exact name)')
    .option('--limit <number>', 'maximum number of rows (default: all)', limit)
    .addOption(json())
    .addHelpText('after', '\nExample:\n  $ orders orders list --needs-review --account "Corner Bakery" --json')
    .action(async (options) => {
      await context.withDatabase(async (database) => {
        const account = options.account === undefined ? undefined : await requireAccount(database, options.account);
        const reviewState = options.needsReview ? 'needs_review' : options.state;
        const found = readOrders(database, { accountId: account?.account_id, reviewState, limit: options.limit });
        await context.printList(options, found, { table: tabulateOrders, none: 'There are no such orders.' });
      });
    });

  orders
    .command('show')
    .description('one order (personal data!)')
    .argument('<order-id>', 'a whole number', orderId)
    .addOption(json())
    .action(async (id: number, options) => {
      const { order, review } = await context.withDatabase(async (database) => {
        const order = await findOrder(database, id);
        if (!order) throw noSuchOrder(id);
        return { order, review: await findReview(database, id) };
      });
      context.print(options, order, () => describeOrder(order, review));
    });

  for (const { verb, to, description, rule } of REVIEWS) {
    const command = orders
      .command(verb)
      .description(description)
      .argument('<order-id>', 'a whole number', orderId)
      .addOption(new Option('--by <name>', 'who decides').argParser(name('A name')).default(whoami(), 'the OS user'))
      .addOption(json())
      .action(async (id: number, options) => {
        const order = await context.withDatabase((database) => review(database, id, { to, rule, ...options }));
        context.print(options, order, () => `Order ${id} is ${order.review_state}, by ${options.by}.`);
      });
    if (to === 'rejected') command.addOption(new Option('--reason <text>', 'why').argParser(name('A reason')));
  }
}

async function review(
  database: Database,
  id: number,
  { to, by, reason, rule }: { to: ReviewDecision; by: string; reason?: string; rule: string },
): Promise<OrderJson> {
  const accountId = (await findOrder(database, id))?.account_id;
  const outcome = accountId && (await reviewOrders(database, { accountId, orderIds: [id], to, by, reason }));
  if (!outcome) throw noSuchOrder(id);
  const [unchanged] = outcome.unchanged;
  if (unchanged?.held)
    throw new Failure(`Order ${id} was sent again with other content; accept or refuse that in the portal first.`);
  if (unchanged) throw new Failure(`Order ${id} is ${unchanged.review_state}; ${rule}.`);
  return (await findOrder(database, id)) as OrderJson;
}

function noSuchOrder(id: number): Failure {
  return new Failure(`There is no order ${id}; orders orders list shows all.`);
}
