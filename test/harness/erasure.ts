import { expect } from '@jest/globals';
import { findMarkers } from './marked-order.ts';
import { runOrders } from './run-command.ts';
import type { Stack, TestAccount } from './stack.ts';
import { readTables } from './stored.ts';

/** Data of the customer. After the erasure it must not be stored anywhere, in any spelling. */
export const CUSTOMER = {
  name: 'Zubayda Qasimi-Thorne',
  phone: ['050 827 7163', '0508277163', '971508277163', '8277163'],
  reversed: '3617728',
  email: 'zubayda.qt@marker.example',
  'customer id': 'customer-marker-81',
  address: 'Villa "Marker" 77,\n   at Street 9ب, Al Barsha',
  area: 'Marker Heights',
  'delivery time': 'When she is back from Zayed Street',
  instructions: 'Gate code 4471#, ask for her',
  details: 'Gift card: Get well, from your aunt',
  'mistyped phone': '0508277164',
  'why it was rejected': 'She asked us to forget it',
};

/** The part of it that an order contains. */
export const CUSTOMER_MEMBERS = {
  customer: { name: CUSTOMER.name, phone: CUSTOMER.phone[0], email: CUSTOMER.email, id: CUSTOMER['customer id'] },
  address: CUSTOMER.address,
  area: CUSTOMER.area,
  delivery_time: CUSTOMER['delivery time'],
  delivery_instructions: CUSTOMER.instructions,
  details: CUSTOMER.details,
};
/** Members of an order that an erasure keeps. */
export const NOT_ERASED = { emirate: 'Dubai', items: [{ name: 'Soup', quantity: 2, sku: 'S-1' }], total: '149.50' };

/** @param by flags that identify the customer, such as `--phone` and a number. */
export async function erase(stack: Stack, account: TestAccount, ...by: string[]) {
  const { code, stdout, stderr } = await runOrders(stack, 'erase', String(account.id), ...by, '--json');
  expect([code, stderr]).toEqual([0, '']);
  return JSON.parse(stdout);
}

/** The rows of all tables, except those of other accounts. */
export async function storedFor({ database }: Stack, account: TestAccount): Promise<string[]> {
  const { rest } = await readTables(database.knex, {});
  return rest.split('\n').filter((line) => {
    const [, row] = /^\S+ (.*)$/.exec(line) ?? [];
    return row && [undefined, null, account.id].includes(JSON.parse(row).account_id);
  });
}

/** The names of the members of `CUSTOMER` that are still stored. */
export async function markersFor(stack: Stack, account: TestAccount): Promise<string[]> {
  return findMarkers((await storedFor(stack, account)).join('\n'), CUSTOMER);
}
