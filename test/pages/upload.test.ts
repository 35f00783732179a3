import { readFile } from 'node:fs/promises';
import { expect, test } from '@jest/globals';
import { writeXlsx } from 'hucre';
import type { Page } from 'playwright-core';
import { expectAccessible, intercept, openPageAs } from '../harness/browser.ts';
import { createPerson } from '../harness/people.ts';
import { describeWith } from '../harness/programs.ts';
import { useStack } from '../harness/use-stack.ts';

const { stack, knex, portal } = useStack({ worker: true, portal: true });

async function openUpload(role: 'owner' | 'viewer' = 'owner') {
  const account = await stack.account();
  const page = await openPageAs(portal, await createPerson(stack, account.id, role), `/accounts/${account.id}/upload`);
  const ordersOf = () =>
    knex('orders')
      .where({ account_id: account.id })
      .orderBy('source_order_id')
      .select('source_order_id', 'customer_phone', 'address', 'items', 'total', 'details');
  return { account, page, ordersOf };
}

function choose(page: Page, name: string, content: string | Buffer): Promise<void> {
  const file = { name, mimeType: 'application/octet-stream', buffer: Buffer.from(content) };
  return page.getByLabel(/^Choose (a|another) file$/).setInputFiles(file);
}

const fieldOf = (page: Page, heading: string) => page.getByLabel(`Field of ${heading}`, { exact: true });
const preview = (page: Page) => page.getByRole('table', { name: 'First orders' });

const TILL = [
  'Slip;Client;Mobile;Street;Building;City;Article;Pieces;Price;Total;Attributes;',
  'T-1;Aisha;050 123 4567;Marina Walk;Tower 3;Dubai;Soup;2;9;28;gift;x',
  'T-1;;;;;;Bread;1;10;;;',
  'T-2;Omar;055 765 4321;Al Wasl Road;Villa 9;Sharjha;Tea;1;5;5;;',
  'T-1;Aisha;050 123 4567;Marina Walk;Tower 3;Dubai;Cake;1;1;28;;',
].join('\r\n');

describeWith('chromium')('in a browser', () => {
  test('a table is sent once its columns are chosen, and the same file again stores nothing', async () => {
    const { page, ordersOf } = await openUpload();
    await expectAccessible(page);
    await choose(page, 'till.csv', TILL);
    await page.getByText('Choose the column with the order id').waitFor();
    expect(await fieldOf(page, 'Mobile').inputValue()).toBe('/customer/phone');
    expect(await fieldOf(page, 'Pieces').inputValue()).toBe('/items/0/quantity');
    await page.getByText('A column has values but no heading.').waitFor();
    // Of two columns for one field, the likelier one has it.
    expect(await fieldOf(page, 'Total').inputValue()).toBe('/total');
    expect(await fieldOf(page, 'Price').inputValue()).toBe('');
    await fieldOf(page, 'Price').selectOption({ label: 'Total' });
    await page.getByText('Several columns have the field Total.').waitFor();
    await fieldOf(page, 'Price').selectOption({ label: 'Leave out' });
    await fieldOf(page, 'Slip').selectOption({ label: 'Order id' });
    await fieldOf(page, 'Building').selectOption({ label: 'Address' });
    await fieldOf(page, 'Article').selectOption({ label: 'Item' });
    await preview(page).getByText('Marina Walk, Tower 3').waitFor();
    await preview(page).getByText('2 × Soup').waitFor();
    // T-1 stands further down again, and the emirate was misspelt.
    await page.getByText('Line 5: An order further up has this id').waitFor();
    await preview(page).getByRole('row', { name: /T-2/ }).getByText('Emirate', { exact: true }).waitFor();
    await expectAccessible(page);
    await page.getByRole('button', { name: 'Send 2 orders' }).click();
    await page.getByText('All 3 orders are done.').waitFor();
    await page.getByText('2 written').waitFor();
    await page.getByRole('row', { name: /^T-1 5 rejected/ }).waitFor();
    await expectAccessible(page);
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('button', { name: 'Download the report' }).click(),
    ]);
    expect((await readFile(await download.path(), 'utf8')).split('\r\n')).toEqual([
      '\uFEFFline,source_order_id,result,reason,receipt_id,order_id',
      expect.stringMatching(/^2,T-1,written,,[0-9a-f-]{36},\d+$/),
      expect.stringMatching(/^4,T-2,written,,[0-9a-f-]{36},\d+$/),
      expect.stringMatching(/^5,T-1,rejected,/),
      '',
    ]);
    expect(await ordersOf()).toMatchObject([
      {
        source_order_id: 'T-1',
        customer_phone: '+971501234567',
        address: 'Marina Walk, Tower 3',
        total: '28',
        details: 'Attributes: gift',
        items: [
          { name: 'Soup', quantity: 2 },
          { name: 'Bread', quantity: 1 },
        ],
      },
      { source_order_id: 'T-2' },
    ]);

    await page.getByRole('button', { name: 'Send another file' }).click();
    await choose(page, 'till again.csv', TILL);
    await page.getByText('As you chose for the last file with these headings.').waitFor();
    await page.getByRole('button', { name: 'Send 2 orders' }).click();
    await page.getByText('2 known already').waitFor();
    expect(await ordersOf()).toHaveLength(2);
  });

  test('a workbook whose headings are fields needs no choice, and goes on while another page is open and the network is lost', async () => {
    const { page, account, ordersOf } = await openUpload();
    const rows = [
      ['source_order_id', 'customer.phone', 'emirate'],
      ...[1, 2].map((n) => [`X-${n}`, 971501234567, 'Dubai']),
    ];
    await choose(page, 'orders.xlsx', Buffer.from(await writeXlsx({ sheets: [{ name: 'Orders', rows }] })));
    await preview(page).getByText('X-2').waitFor();
    const address = `**/api/accounts/${account.id}/uploads/orders`;
    await intercept(page, address, (route) => route.abort());
    await page.getByRole('button', { name: 'Send 2 orders' }).click();
    await page.getByText('The portal does not answer, or is busy. It is tried again.').waitFor();
    await page.getByRole('link', { name: 'Developers', exact: true }).click();
    await page.getByRole('heading', { name: 'Developers' }).waitFor();
    await page.unroute(address);
    await page.getByRole('link', { name: 'Shops', exact: true }).first().click();
    await page.getByRole('link', { name: 'Upload a file' }).click();
    await page.getByText('All 2 orders are done.').waitFor();
    expect(await ordersOf()).toMatchObject([{ source_order_id: 'X-1' }, { source_order_id: 'X-2' }]);
  });

  test("a shop's own export is recognized, and a file that is no table is explained", async () => {
    const { page } = await openUpload();
    await choose(page, 'old.xls', Buffer.from('d0cf11e0a1b11ae1', 'hex'));
    await page.getByText('This is an older Excel file, or it has a password.').waitFor();
    await choose(page, 'till.csv', 'id,name\n1,"never closed');
    await page.getByText('Line 2: A quotation mark is opened and never closed.').waitFor();
    await choose(page, 'orders.json', '[{"source_order_id":"1"}]');
    await page.getByText('This is not a table.').waitFor();
    const shopify = [
      'Name,Financial Status,Fulfillment Status,Lineitem name,Lineitem quantity,Shipping Name,Shipping City,Total,Id',
      '#1001,paid,unfulfilled,Lamp,2,Aisha,Dubai,99,7001',
      '#1002,paid,fulfilled,Lamp,1,Omar,Dubai,49,7002',
    ].join('\n');
    await choose(page, 'orders_export_1.csv', shopify);
    await page.getByRole('heading', { name: 'Shopify: orders' }).waitFor();
    await page.getByText('1 finished order left out').waitFor();
    await preview(page).getByText('2 × Lamp').waitFor();
    await expectAccessible(page);
    await page.getByRole('button', { name: 'Send 1 order', exact: true }).waitFor();
  });

  test('a viewer uploads nothing', async () => {
    const { page } = await openUpload('viewer');
    await page.getByText('Only owners and developers of the account can upload files.').waitFor();
    expect(await page.getByLabel('Choose a file').count()).toBe(0);
  });
});
