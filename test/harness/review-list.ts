import { randomUUID } from 'node:crypto';
import type { Knex } from 'knex';
import { createPerson, type PortalClient, signIn, type TestPerson } from './people.ts';
import type { RunningPortal, Stack, TestAccount } from './stack.ts';

/** What is below an account in the portal's interface. */
export type ShopClient = Pick<PortalClient, 'get' | 'post'> & {
  patch(path: string, body: object): ReturnType<PortalClient['patch']>;
};

/** An account and its holder, signed in. */
export interface Shop extends ShopClient {
  account: TestAccount;
  person: TestPerson;
  client: PortalClient;
}

export async function openShop(stack: Stack, portal: RunningPortal): Promise<Shop> {
  const account = await stack.account({ signing: true });
  const person = await createPerson(stack, account.id);
  const client = await signIn(portal, person);
  return { account, person, client, ...below(client, account.id) };
}

/** The part of an account, as somebody else asks for it. */
export function below(client: PortalClient, accountId: number): ShopClient {
  const base = `/accounts/${accountId}`;
  return {
    get: (path) => client.get(`${base}${path}`),
    post: (path, body) => client.post(`${base}${path}`, body),
    patch: (path, body) => client.patch(`${base}${path}`, body),
  };
}

/** An order as it lies in the table; what is not given is as plain as can be. */
export async function insertOrder(
  knex: Knex,
  accountId: number,
  columns: Record<string, unknown> = {},
): Promise<number> {
  const id = randomUUID();
  const row = {
    account_id: accountId,
    source_order_id: id,
    order_number: columns.source_order_id ?? id,
    channel: 'rest',
    receipt_id: randomUUID(),
    items: '[]',
    warnings: '[]',
    currency: 'AED',
    received_at: new Date(),
    ...columns,
  };
  const [inserted] = await knex('orders').insert(row).returning('order_id');
  return inserted.order_id;
}

/** Makes what was done to orders as old as so many seconds. */
export async function makeReviewOlder(knex: Knex, orderIds: readonly number[], seconds: number): Promise<void> {
  await knex('orders')
    .whereIn('order_id', orderIds)
    .update({ reviewed_at: knex.raw("reviewed_at - ? * interval '1 second'", [seconds]) });
}
