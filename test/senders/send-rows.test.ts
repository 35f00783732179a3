import { expect, test } from '@jest/globals';
import { useDirectory } from '../harness/directory.ts';
import { dryRun, send, useSenderService } from '../harness/send.ts';

const service = useSenderService();
const { sender } = service;
const files = useDirectory();

/** A table whose headings are fields. */
const table = (...rows: string[]) =>
  `source_order_id,customer.name,customer.phone,items.0.name,items.0.quantity\n${rows.map((row) => `${row}\n`).join('')}`;

test('rows with one id that follow each other are one order, and the same file again creates nothing', async () => {
  const rows = ['R-1,Aisha,,Lamp,2', '', 'R-1 ,,0501234567,Shade,1', 'R-2,Omar,0557654321,Bulb,3', ',Nobody,,Lamp,1'];
  const file = await files.write('rows.csv', table(...rows, 'R-3,,,,'));
  const { code, stdout } = await send(sender, [file, '--json']);
  expect([code, JSON.parse(stdout)]).toMatchObject([
    1,
    { read: 4, rejected: 1, recognized: null, statuses: { written: 3 }, failures: [{ position: 3, line: 6 }] },
  ]);
  const orders = await service.ordersOf(sender);
  expect(orders).toMatchObject([
    {
      source_order_id: 'R-1',
      customer_name: 'Aisha',
      customer_phone: '+971501234567',
      items: [
        { name: 'Lamp', quantity: 2 },
        { name: 'Shade', quantity: 1 },
      ],
    },
    { source_order_id: 'R-2', items: [{ name: 'Bulb', quantity: 3 }] },
    { source_order_id: 'R-3', items: [] },
  ]);
  expect(JSON.parse((await send(sender, [file, '--json'])).stdout)).toMatchObject({ sent_before: 3 });
  expect(await service.receiptsOf(sender)).toHaveLength(3);
});

test('the first of cells that contradict counts, and each other one is reported with line and heading', async () => {
  const rows = ['C-1,Aisha,0501234567,Lamp,1', 'C-1,Omar,0557654321,Shade,1', 'C-2,,,Bulb,1', 'C-2,,,Bulb,1'];
  const file = await files.write('contradicting.csv', table(...rows));
  const { code, stdout, stderr } = await send(sender, [file]);
  expect([code, stderr]).toEqual([1, expect.stringContaining('have rows that contradict each other')]);
  expect(stdout).toContain('2 orders failed: 1 × contradicting_rows, 1 × repeated_row');
  expect(stdout).toContain(
    'order 1, line 2 (C-1): contradicting_rows: Line 3 has another "customer.name" than a row above it. The first one was taken. And 1 more.',
  );
  expect(stdout).toContain(
    'order 2, line 4 (C-2): repeated_row: Line 5 is the same as the row above it, so its items are in the order once more.',
  );
  expect(await service.ordersOf(sender)).toMatchObject([
    { customer_name: 'Aisha', customer_phone: '+971501234567', items: [{ name: 'Lamp' }, { name: 'Shade' }] },
    { items: [{ name: 'Bulb' }, { name: 'Bulb' }] },
  ]);
  const { failures } = await dryRun(file);
  expect(failures[0].contradictions).toEqual([
    { line: 3, column: 'customer.name' },
    { line: 3, column: 'customer.phone' },
  ]);
});

test('rows of an order with others between them are not sent, as they would change the order', async () => {
  const file = await files.write('apart.csv', table('A-1,Aisha,,Lamp,1', 'A-2,Omar,,Bulb,1', 'A-1,,,Shade,1'));
  const { code, stdout } = await send(sender, [file]);
  expect([code, stdout]).toEqual([
    1,
    expect.stringContaining('order 3, line 4 (A-1): rows_apart: An order at line 2 has this id, too'),
  ]);
  expect(await service.ordersOf(sender)).toMatchObject([{ items: [{ name: 'Lamp' }] }, { source_order_id: 'A-2' }]);
  expect(await service.receiptsOf(sender)).toHaveLength(2);
});

test('an order has at most 1,000 rows', async () => {
  const rows = Array.from({ length: 1_001 }, (_, number) => `M-1,Aisha,,Lamp ${number},1`);
  const most = await files.write('most.csv', table(...rows.slice(1), 'M-2,,,Bulb,1'));
  expect(await dryRun(most)).toMatchObject({ code: 0, read: 2, with_warnings: 0 });
  const more = await files.write('more.csv', table(...rows, ...rows, 'M-2,,,Bulb,1'));
  const failures = [{ line: 2, code: 'malformed_body', detail: expect.stringMatching(/^It has more than 1000 rows/) }];
  expect(await dryRun(more)).toMatchObject({ code: 1, read: 2, rejected: 1, failures });
});

test('rows of a table without items are orders of their own', async () => {
  const file = await files.write('bare.csv', 'source_order_id,area\nB-1,Marina\nB-1,Marina\n');
  expect(await dryRun(file)).toMatchObject({ read: 2, repeated: 1 });
});

const SHOPIFY = `Name,Email,Financial Status,Currency,Total,Lineitem quantity,Lineitem name,Lineitem sku,Shipping Name,Shipping Street,Shipping City,Shipping Province,Shipping Phone,Notes
#F3301,aisha@example.com,paid,AED,94.00,1,Brass lamp,LAMP-L,Aisha Khan,Villa 12,Dubai,DU,'+971501234567,Ring twice
#F3301,aisha@example.com,,,,1,Linen shade,SHADE,,,,,,
#F3302,omar@example.com,paid,AED,49.00,2,Bulb,BULB,Omar Saleh,Flat 9,Ajman,AJ,055 765 4321,
`;
const SHOPIFY_ORDERS = [
  {
    source_order_id: '#F3301',
    customer_name: 'Aisha Khan',
    customer_phone: '+971501234567',
    address: 'Villa 12',
    emirate_code: 'AE-DU',
    payment_state: 'paid',
    total: '94.00',
    delivery_instructions: 'Ring twice',
    items: [
      { name: 'Brass lamp', quantity: 1, sku: 'LAMP-L' },
      { name: 'Linen shade', quantity: 1, sku: 'SHADE' },
    ],
  },
  { source_order_id: '#F3302', emirate_code: 'AE-AJ', items: [{ name: 'Bulb', quantity: 2 }] },
];

test("Shopify's export of orders needs no mapping", async () => {
  const file = await files.write('orders_export.csv', SHOPIFY);
  const { code, stdout } = await send(sender, [file]);
  expect([code, stdout]).toEqual([0, expect.stringMatching(/^The table is an export of Shopify: orders\.\n {2}2 {2}/)]);
  expect(await service.ordersOf(sender)).toMatchObject(SHOPIFY_ORDERS);
});

test('a mapping comes before an export that is recognized', async () => {
  const mapping = {
    source_order_id: '/Name',
    customer: { name: '/Shipping Name', phone: '/Shipping Phone', email: '/Email' },
    items: [{ name: '/Lineitem name', quantity: '/Lineitem quantity' }],
    details: [{ label: 'Note', value: '/Notes' }],
    payment_state: { constant: 'paid', if: { '/Financial Status': ['paid'] } },
  };
  const args = ['--map', await files.write('map.json', JSON.stringify(mapping)), '--ignore-unmapped'];
  const file = await files.write('orders_export.csv', SHOPIFY);
  expect(await dryRun(file, ...args)).toMatchObject({ code: 0, read: 2, recognized: null });
});

/** A row of a table with the cells of these columns. */
function tableOf(columns: readonly string[], rows: readonly Record<string, string>[]): string {
  return [columns, ...rows.map((row) => columns.map((column) => row[column] ?? ''))]
    .map((cells) => `${cells.map((cell) => `"${cell}"`).join(',')}\n`)
    .join('');
}

test('orders that an export of Shopify calls fulfilled or cancelled are left out and counted', async () => {
  const columns = [
    ...['Name', 'Id', 'Email', 'Financial Status', 'Fulfillment Status', 'Cancelled at', 'Payment Method'],
    ...['Total', 'Lineitem quantity', 'Lineitem name', 'Shipping Method', 'Shipping Name', 'Shipping Address1'],
    ...['Shipping Street', 'Shipping Province', 'Shipping Country', 'Billing Phone', 'Note Attributes', 'Vendor'],
  ];
  const rows = [
    {
      ...{ Name: '#1', Id: '551', 'Financial Status': 'pending', 'Payment Method': 'Cash on Delivery (COD)' },
      ...{ 'Lineitem name': 'Lamp', 'Lineitem quantity': '1', 'Shipping Province': 'AZ', 'Shipping Country': 'AE' },
      ...{ 'Shipping Address1': 'Villa 1', 'Shipping Street': 'Villa 1, Gate 2', 'Billing Phone': '0501234567' },
      'Shipping Method': 'Local pickup',
      'Note Attributes': 'Delivery-Date: 2026/12/01\nDelivery-Time: 10:00 AM - 1:00 PM\nGift: For Omar: open late',
    },
    { Name: '#1', 'Lineitem name': 'Tip', 'Lineitem quantity': '1', Vendor: 'x' },
    { Name: '#2', Id: '552', 'Fulfillment Status': 'fulfilled', 'Lineitem name': 'Bulb', 'Lineitem quantity': '1' },
    { Name: '#3', Id: '553', 'Cancelled at': '2026-11-01 10:00:00 +0400', 'Lineitem name': 'Bulb' },
    { Name: '#3', 'Lineitem name': 'Shade' },
    { Name: '#4', Id: '554', 'Fulfillment Status': 'partial', 'Lineitem name': 'Bulb', 'Lineitem quantity': '1' },
  ];
  const file = await files.write('states.csv', tableOf(columns, rows));
  const { code, stdout } = await send(sender, [file]);
  expect([code, stdout]).toEqual([
    0,
    expect.stringContaining('Orders left out, as there is nothing to deliver: 1 cancelled, 1 fulfilled'),
  ]);
  expect(await service.ordersOf(sender)).toMatchObject([
    {
      source_order_id: '551',
      order_number: '#1',
      customer_phone: '+971501234567',
      address: 'Villa 1',
      emirate_code: 'AE-AZ',
      payment_state: 'cash_on_delivery',
      delivery_method: 'pickup',
      delivery_time: '2026/12/01, 10:00 AM - 1:00 PM',
      details: expect.stringContaining('Gift: For Omar: open late'),
      items: [{ name: 'Lamp' }],
    },
    { source_order_id: '554', order_number: '#4' },
  ]);
});

test('rows apart are found by what all rows have, also if the id is only in the first', async () => {
  const columns = ['Name', 'Id', 'Financial Status', 'Lineitem name', 'Lineitem quantity'];
  const rows = [
    { Name: '#1', Id: '551', 'Lineitem name': 'Lamp' },
    { Name: '#2', Id: '552', 'Lineitem name': 'Bulb' },
    { Name: '#1', 'Lineitem name': 'Shade' },
  ];
  const file = await files.write('sorted.csv', tableOf(columns, rows));
  expect(await dryRun(file)).toMatchObject({ read: 3, rejected: 1, failures: [{ line: 4, code: 'rows_apart' }] });
});

test('the exports of two programs for WooCommerce need no mapping', async () => {
  const order = (id: string, status: string, more = {}) => ({
    ...{ 'Order Number': id, 'Order Status': status, 'Order Total Amount': '94', 'Phone (Billing)': '0501234567' },
    ...{ 'First Name (Billing)': 'Aisha', 'Last Name (Billing)': 'Khan', 'Address 1&2 (Billing)': 'Villa 12' },
    ...{ 'City (Billing)': 'Dubai', 'Country Code (Billing)': 'AE', 'Item Name': 'Lamp', 'Quantity (- Refund)': '1' },
    ...more,
  });
  const columns = [...Object.keys(order('', '')), 'Payment Method Title', 'Customer Note', 'SKU'];
  // Its setting "fill order columns for: 1st row only" leaves the id of the second row empty.
  const rows = [
    order('W-1', 'Processing', { 'Payment Method Title': 'Cash on delivery' }),
    { 'Item Name': 'Shade', 'Quantity (- Refund)': '2', SKU: 'SHADE' },
    order('W-2', 'On hold'),
    order('W-3', 'Completed'),
    order('W-4', 'ملغي'),
    order('W-5', 'Draft'),
  ];
  const advanced = await files.write('advanced.csv', tableOf(columns, rows));
  const { stdout } = await send(sender, [advanced, '--json']);
  expect(JSON.parse(stdout)).toMatchObject({
    read: 2,
    recognized: 'WooCommerce: Advanced Order Export',
    left_out: { cancelled: 1, finished: 1, ignored: 1 },
  });
  const item = (id: string, name: string) => ({
    ...{ order_id: id, status: 'processing', billing_first_name: 'Omar', billing_last_name: 'Saleh' },
    ...{ billing_phone: '0557654321', billing_state: 'Ajman', billing_country: 'AE', order_total: '10' },
    ...{ payment_method: 'cod', item_name: name, item_quantity: '1' },
  });
  const others = [item('77', 'Bulb'), item('77', 'Cable')];
  const customer = await files.write('customer.csv', tableOf(Object.keys(item('', '')), others));
  expect(JSON.parse((await send(sender, [customer, '--json'])).stdout)).toMatchObject({
    read: 1,
    recognized: 'WooCommerce: Customer/Order/Coupon Export',
  });
  expect(await service.ordersOf(sender)).toMatchObject([
    { source_order_id: '77', customer_name: 'Omar Saleh', emirate_code: 'AE-AJ', payment_state: 'cash_on_delivery' },
    {
      source_order_id: 'W-1',
      customer_name: 'Aisha Khan',
      address: 'Villa 12',
      emirate_code: 'AE-DU',
      payment_state: 'cash_on_delivery',
      items: [{ name: 'Lamp' }, { name: 'Shade', quantity: 2, sku: 'SHADE' }],
    },
    { source_order_id: 'W-2', payment_state: 'unpaid' },
  ]);
});
