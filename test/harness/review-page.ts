import { expect } from '@jest/globals';
import { until } from '@orders/test-services/until.ts';
import type { BrowserContextOptions, Page } from 'playwright-core';
import { openPageAs } from './browser.ts';
import { createPerson, openColleague, type TestPerson } from './people.ts';
import { extendUndo } from './review-list.ts';
import type { Stack, TestAccount } from './stack.ts';
import { useStack } from './use-stack.ts';

/** An account with a reviewer. */
export interface ReviewedShop {
  account: TestAccount;
  person: TestPerson;
}

const DELIVERABLE_ORDER = {
  source_order_id: 'A-1',
  customer: { name: 'Fatima', phone: '050 123 4567' },
  address: 'Villa 12, Street 4',
  emirate: 'Dubai',
  items: [{ name: 'Karak', quantity: 2, sku: 'K-1' }],
  total: '1250.50',
};

/** A deliverable order with this number. */
export const numbered = (number: string, more: object = {}) => ({
  ...DELIVERABLE_ORDER,
  source_order_id: number,
  ...more,
});

const APPS = { intake: true, worker: true, portal: true } as const;

/** Starts the apps for tests of the list. `open` makes an account with orders, `review` opens its list. */
export function useReviewList() {
  const apps = useStack(APPS);
  const { stack, api, portal } = apps;
  /** An account with these orders, in this order, and a reviewer. */
  async function open(...orders: (object | string)[]): Promise<ReviewedShop> {
    const account = await stack.account();
    const person = await createPerson(stack, account.id);
    for (const order of orders) expect(await api.process(account, order)).toMatchObject({ status: 'written' });
    return { account, person };
  }
  /** Opens the list as its reviewer. */
  const review = (
    { person, account }: ReviewedShop,
    { path = '', ...options }: BrowserContextOptions & { path?: string } = {},
  ): Promise<Page> => openPageAs(portal, person, `/accounts/${account.id}/orders${path}`, options);
  return {
    ...apps,
    open,
    review,
    /** Opens the list of a new account with these orders, and collects the decisions that are sent. */
    async openList(...orders: (object | string)[]) {
      const shop = await open(...orders);
      const page = await review(shop);
      return { shop, page, decisions: watchDecisions(page) };
    },
  };
}

/** Starts the apps for tests of the open order, with a new account, `shop`, before each of them. */
export function useOpenOrder() {
  const apps = useStack({ ...APPS, shop: 'each test' });
  const { stack, api, portal, shop } = apps;
  return {
    ...apps,
    /** Sends an order; returns its id. */
    begin: async (order: object): Promise<number> => (await api.process(shop.account, order)).order_id,
    orderOf: async (orderId: number) => (await shop.get(`/orders/${orderId}`)).body.order,
    /** A second reviewer of the account. */
    colleague: () => openColleague(stack, portal, shop),
    /** Opens an order as its reviewer, with its payload loaded. */
    async visit(orderId: number, options: BrowserContextOptions = {}): Promise<Page> {
      const page = await openPageAs(portal, shop.person, `/accounts/${shop.account.id}/orders/${orderId}`, options);
      await page.locator('.raw pre').waitFor();
      return page;
    },
  };
}

/** The open order with this number, once it is loaded. */
export const paneOf = (page: Page, number: string) =>
  page.locator('.order-pane[aria-busy="false"]').filter({ has: page.getByRole('heading', { name: number }) });
export const factOf = (page: Page, label: string) =>
  page.locator('.fact').filter({ has: page.getByText(label, { exact: true }) });
export const inputOf = (page: Page) => page.locator('.field-editor').locator('input, textarea, select');

/** The row of an order. Its number is compared whole: `R-2` is also in the name `reviewer-2f`. */
export const rowOf = (page: Page, number: string) =>
  page.locator('.order-row').filter({ has: page.getByText(number, { exact: true }) });
export const currentRow = (page: Page, number: string) =>
  page.locator('.order-row.is-current').and(rowOf(page, number));

/** The review states of an account's orders by order number. */
export async function statesOf({ database }: Stack, { account }: ReviewedShop): Promise<Record<string, string>> {
  const rows = await database.knex('orders').where({ account_id: account.id }).select('order_number', 'review_state');
  return Object.fromEntries(rows.map(({ order_number, review_state }) => [order_number, review_state]));
}

export function becomes(stack: Stack, shop: ReviewedShop, number: string, state: string): Promise<boolean> {
  return until(`${number} is ${state}`, async () => (await statesOf(stack, shop))[number] === state);
}

/** Gives the service an hour more to undo the decisions of an account, once so many of its orders are decided. */
export async function extendUndoOf(
  { database: { knex } }: Stack,
  { account }: Pick<ReviewedShop, 'account'>,
  count = 1,
): Promise<void> {
  const decided = await until(`${count} orders are decided`, async () => {
    const ids = await knex('orders').where({ account_id: account.id }).whereNotNull('reviewed_at').pluck('order_id');
    return ids.length >= count && ids;
  });
  await extendUndo(knex, decided);
}

/** Inserts many deliverable orders, named `BULK-0001` and so on, written an hour ago. */
export async function insertBulk(
  { database }: Stack,
  { account }: ReviewedShop,
  count: number,
  prefix = 'BULK',
): Promise<void> {
  await database.knex.raw(
    `insert into orders (account_id, source_order_id, order_number, channel, receipt_id, customer_name, customer_phone, address,
                         emirate, emirate_code, items, total, currency, warnings, severity, received_at, written_at)
     select ?, ? || n, ? || '-' || lpad(n::text, 4, '0'), 'rest', gen_random_uuid(), 'Fatima', '+971501234567', 'Villa 12',
            'Dubai', 'AE-DU', '[{"name":"Karak","sku":null,"quantity":2}]', n, 'AED', '[]', 'none',
            now() - interval '1 hour', now() - interval '1 hour'
     from generate_series(1, ?) as n order by n`,
    [account.id, prefix, prefix, count],
  );
}

/** Collects the bodies of decisions that the page sends. */
export function watchDecisions(page: Page): { order_ids: number[]; to: string }[] {
  const sent: { order_ids: number[]; to: string }[] = [];
  page.on('request', (request) => {
    if (request.method() === 'POST' && request.url().endsWith('/orders/review')) sent.push(request.postDataJSON());
  });
  return sent;
}

/** Opens and closes the help: after it, all keys pressed before were handled. */
export async function afterKeys(page: Page): Promise<void> {
  await page.keyboard.press('?');
  await page.getByRole('dialog', { name: 'Keyboard shortcuts' }).waitFor();
  await page.keyboard.press('Escape');
  // Not by its role: what is closed has none, before it is removed.
  await page.locator('dialog').waitFor({ state: 'detached' });
}
