import { expect, test } from '@jest/globals';
import { useDirectory } from '../harness/directory.ts';
import { send, useSenderService } from '../harness/send.ts';

const service = useSenderService();
const { sender } = service;
const files = useDirectory();

/** A table as a program writes it. Persons are made up. */
interface Case {
  /** Where it is shown or described. */
  source: string;
  about: string;
  /** Its extension says how it is read. */
  file?: string;
  rows: string[];
  /** Without one, the export is recognized, or its headings are fields. */
  mapping?: object;
  orders: object[];
  /** The codes of the report. */
  failures?: string[];
}

const CASES: Case[] = [
  {
    source: 'docs.xbp.app/docs/development/integrations/shopify/order-format',
    about: 'Shopify: further rows repeat name and e-mail, and only the first says that the order is paid',
    rows: [
      'Name,Email,Financial Status,Fulfillment Status,Currency,Total,Lineitem quantity,Lineitem name,Lineitem price,Shipping Name,Shipping Street,Shipping City,Shipping Country,Shipping Phone,Id',
      "#128520,s.haddad@example.com,paid,unfulfilled,AED,53.91,3,Collagen mask,34.90,Sofia Haddad,13 Al Wasl Road,Dubai,AE,'+971501234567,7410991464714",
      '#128520,s.haddad@example.com,,,,,1,Night serum,19.00,,,,,,',
      '#128520,s.haddad@example.com,,,,,2,Hand cream,9.50,,,,,,',
    ],
    orders: [
      {
        source_order_id: '7410991464714',
        order_number: '#128520',
        payment_state: 'paid',
        total: '53.91',
        customer_phone: '+971501234567',
        items: [
          { name: 'Collagen mask', quantity: 3 },
          { name: 'Night serum', quantity: 1 },
          { name: 'Hand cream', quantity: 2 },
        ],
      },
    ],
  },
  {
    source: 'github.com/julionc/awesome-shopify/pull/81',
    about: 'Shopify: all rows of an order are refunded if the first says so',
    rows: [
      'Name,Financial Status,Fulfillment Status,Total,Lineitem quantity,Lineitem name,Shipping Name',
      '#1001,refunded,,94.00,1,Brass lamp,Aisha Khan',
      '#1001,,,,1,Linen shade,',
      '#1002,paid,,49.00,2,Bulb,Omar Saleh',
    ],
    orders: [
      {
        source_order_id: '#1001',
        payment_state: 'refunded',
        total: '94.00',
        items: [{ name: 'Brass lamp' }, { name: 'Linen shade' }],
      },
      { source_order_id: '#1002', payment_state: 'paid', items: [{ name: 'Bulb' }] },
    ],
  },
  {
    source: 'github.com/mithunmanohar/woocommerce-orders-google-sheets-integration/issues/57',
    about: 'each item in a new row, with the customer in each',
    rows: [
      'Name,Surname,Order,Item',
      'Mona,Saif,501,Dates',
      'Mona,Saif,501,Honey',
      'Mona,Saif,501,Nuts',
      'Omar,Ali,502,Dates',
    ],
    mapping: {
      source_order_id: '/Order',
      customer: { name: { join: ['/Name', '/Surname'] } },
      items: [{ name: '/Item' }],
    },
    orders: [
      {
        source_order_id: '501',
        customer_name: 'Mona Saif',
        items: ['Dates', 'Honey', 'Nuts'].map((name) => ({ name })),
      },
      { source_order_id: '502', customer_name: 'Omar Ali', items: [{ name: 'Dates' }] },
    ],
  },
  {
    source: 'shopware-importexport-app-docs.pages.dev/export/how-to/orders/',
    about: 'Shopware: a row of the order without an item, then rows of items without the order',
    rows: [
      'linetype,orderNumber,paymentStatus,amountTotal,customer,lineItemName,lineItemQuantity',
      'order,10002,paid,122.4,Layla Nasser,,',
      'lineItems,10002,,,,Brass lamp,1',
      'lineItems,10002,,,,Linen shade,2',
    ],
    mapping: {
      source_order_id: '/orderNumber',
      customer: { name: '/customer' },
      total: '/amountTotal',
      payment_state: { constant: 'paid', if: { '/paymentStatus': ['paid'] } },
      items: [{ name: '/lineItemName', quantity: '/lineItemQuantity' }],
    },
    orders: [
      {
        source_order_id: '10002',
        customer_name: 'Layla Nasser',
        payment_state: 'paid',
        total: '122.4',
        items: [
          { name: 'Brass lamp', quantity: 1 },
          { name: 'Linen shade', quantity: 2 },
        ],
      },
    ],
  },
  {
    source: 'sixbitsoftware.com/EN/Rules_for_Importing_Orders_via_CSV.htm',
    about: 'fields of the order once, and its id with each further item',
    rows: [
      'source_order_id,customer.name,customer.phone,total,items.0.name,items.0.sku,items.0.quantity',
      'SB-1,Hind Yousef,0501112233,75.00,Mug,MUG-1,1',
      'SB-1,,,,Plate,PLT-1,4',
    ],
    orders: [
      {
        source_order_id: 'SB-1',
        customer_name: 'Hind Yousef',
        items: [
          { name: 'Mug', sku: 'MUG-1', quantity: 1 },
          { name: 'Plate', sku: 'PLT-1', quantity: 4 },
        ],
      },
    ],
  },
  {
    source: 'help.inventora.com/getting-started/sales/importing-sales-from-csv',
    about: 'the first row fills what is not of an item, and another value further down is reported',
    rows: [
      'Sale Number,Customer First Name,Shipping City,Product Name,Product Quantity',
      'S-9,Reem,Ajman,Candle,2',
      'S-9,Rim,Ajman,Wick,1',
    ],
    mapping: {
      source_order_id: '/Sale Number',
      customer: { name: '/Customer First Name' },
      emirate: '/Shipping City',
      items: [{ name: '/Product Name', quantity: '/Product Quantity' }],
    },
    orders: [{ source_order_id: 'S-9', customer_name: 'Reem', emirate_code: 'AE-AJ', items: [{}, {}] }],
    failures: ['contradicting_rows'],
  },
  {
    source: 'github.com/pretix/pretix/pull/5304',
    about: 'rows of one order must follow each other',
    rows: ['source_order_id,customer.name,items.0.name', 'P-1,Huda,Ticket', 'P-2,Zain,Ticket', 'P-1,Huda,Poster'],
    orders: [{ source_order_id: 'P-1', items: [{ name: 'Ticket' }] }, { source_order_id: 'P-2' }],
    failures: ['rows_apart'],
  },
  {
    source: 'sellercentral.amazon.in/gp/help/external/help.html?itemID=651',
    about: 'Amazon: an order takes several lines, and lines that continue it leave most columns blank',
    file: 'report.tsv',
    rows: [
      'order-id\torder-item-id\trecipient-name\tship-phone-number\tship-state\tproduct-name\tquantity-purchased\tpromotion',
      '058-3563777-5518068\t0583563777345\tSara Amin\t+971 50 765 4321\tSharjah\tSnowboard\t1\tSAVE10',
      '058-3563777-5518068\t0583563777345\t\t\t\t\t\tFREESHIP',
      '058-3563777-5518068\t0583563777346\t\t\t\tGloves\t2\t',
    ],
    mapping: {
      source_order_id: '/order-id',
      customer: { name: '/recipient-name', phone: '/ship-phone-number' },
      emirate: '/ship-state',
      items: [{ name: '/product-name', quantity: '/quantity-purchased' }],
    },
    orders: [
      {
        source_order_id: '058-3563777-5518068',
        customer_phone: '+971507654321',
        emirate_code: 'AE-SH',
        items: [
          { name: 'Snowboard', quantity: 1 },
          { name: 'Gloves', quantity: 2 },
        ],
      },
    ],
  },
  {
    source: 'odoo.com/documentation/12.0/applications/general/base_import/import_faq.html',
    about: 'Odoo: further lines of an order leave all of the order empty, its reference too',
    rows: [
      'Order Reference,Customer,Order Lines/Product,Order Lines/Quantity',
      'S00017,Deco Addict,Desk,1',
      ',,Chair,4',
      ',,Lamp,2',
      'S00018,Ready Mat,Desk,1',
      ',Nobody,Desk,1',
    ],
    mapping: {
      source_order_id: '/Order Reference',
      customer: { name: '/Customer' },
      items: [{ name: '/Order Lines~1Product', quantity: '/Order Lines~1Quantity' }],
    },
    orders: [
      {
        source_order_id: 'S00017',
        customer_name: 'Deco Addict',
        items: [{ name: 'Desk' }, { name: 'Chair' }, { name: 'Lamp' }],
      },
      { source_order_id: 'S00018', items: [{ name: 'Desk' }] },
    ],
    failures: ['validation_failed'],
  },
  {
    source: 'godaddy.com/help/about-customerordercoupon-exports-export-formats-40232',
    about: 'WooCommerce, one row per line item: several of one item are on one line',
    rows: [
      'order_id,order_number,status,billing_first_name,billing_last_name,billing_phone,billing_country,order_total,payment_method,item_name,item_quantity',
      '311,311,processing,Nadia,Aziz,0509876543,AE,120,cod,Oud oil,3',
      '311,311,processing,Nadia,Aziz,0509876543,AE,120,cod,Incense,1',
    ],
    orders: [
      {
        source_order_id: '311',
        payment_state: 'cash_on_delivery',
        items: [
          { name: 'Oud oil', quantity: 3 },
          { name: 'Incense', quantity: 1 },
        ],
      },
    ],
  },
  {
    source: 'help.useresponse.com/hemi/knowledge-base/article/marketplaces-noon-v1-technical-scope-noon-get-orders',
    about: 'noon: each piece is a row with a number of its own, also two of one product',
    rows: [
      'invoice_nr,item_nr,partner_sku,receiver_name,receiver_emirate',
      'NINV-7,NAE-1,LAMP-S,Khalid Omar,Abu Dhabi',
      'NINV-7,NAE-2,LAMP-S,Khalid Omar,Abu Dhabi',
    ],
    mapping: {
      source_order_id: '/invoice_nr',
      customer: { name: '/receiver_name' },
      emirate: '/receiver_emirate',
      items: [{ sku: '/partner_sku', name: '/partner_sku' }],
    },
    orders: [{ source_order_id: 'NINV-7', emirate_code: 'AE-AZ', items: [{ sku: 'LAMP-S' }, { sku: 'LAMP-S' }] }],
  },
  {
    source: 'wiki.venderflow.com/?p=980',
    about: 'fields of the order are repeated, also how many pieces there are in all',
    rows: [
      'Order,Customer first name,Customer last name,Quantity,Line item Name,Line item Quantity,City',
      'V-1,Jane,Smith,3,Blue T-shirt,2,Fujairah',
      'V-1,Jane,Smith,3,Cap,1,Fujairah',
    ],
    mapping: {
      source_order_id: '/Order',
      customer: { name: { join: ['/Customer first name', '/Customer last name'] } },
      emirate: '/City',
      items: [{ name: '/Line item Name', quantity: '/Line item Quantity' }],
    },
    orders: [
      {
        source_order_id: 'V-1',
        customer_name: 'Jane Smith',
        items: [
          { name: 'Blue T-shirt', quantity: 2 },
          { name: 'Cap', quantity: 1 },
        ],
      },
    ],
  },
];

test.each(CASES)('$about ($source)', async ({ file = 'table.csv', rows, mapping, orders, failures = [] }) => {
  const args = mapping ? ['--map', await files.write('map.json', JSON.stringify(mapping)), '--ignore-unmapped'] : [];
  const { stdout } = await send(sender, [await files.write(file, `${rows.join('\n')}\n`), ...args, '--json']);
  const report = JSON.parse(stdout);
  expect(report.failures.map(({ code }: { code: string }) => code)).toEqual(failures);
  expect(await service.ordersOf(sender)).toMatchObject(orders);
});
