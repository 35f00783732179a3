import { execFile } from 'node:child_process';
import { mkdir } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { beforeAll, expect, test } from '@jest/globals';
import { setHoldChangedDeliveries, setRateLimit } from '@orders/database/accounts/accounts.ts';
import { setEvents } from '@orders/database/events/event-logs.ts';
import { normalizeOrder } from '@orders/domain/normalize-order.ts';
import { mapOrder } from '@orders/domain/sources/map-order.ts';
import { PRESETS } from '@orders/domain/sources/presets.ts';
import type { SourcePreset, SourceSettings } from '@orders/domain/sources/settings.ts';
import { readSenderPages } from '@orders/intake/docs/sender-pages/sender-pages.ts';
import { until } from '@orders/test-services/until.ts';
import { startReply } from '../harness/api.ts';
import { makeDirectory } from '../harness/directory.ts';
import { startLossyProxy } from '../harness/lossy-proxy.ts';
import { blocksUnder, readBlocks } from '../harness/markdown-blocks.ts';
import { describeWith } from '../harness/programs.ts';
import { isAsShown, paste, scriptsOf, shownOutputs } from '../harness/sender-pages.ts';
import { createTestSource, type RecordedOrder, readDeliveryFixture } from '../harness/sources.ts';
import type { TestAccount } from '../harness/stack.ts';
import { useStack } from '../harness/use-stack.ts';

const run = promisify(execFile);
const PAGES = readSenderPages();
const WITH_EXAMPLES = PAGES.filter(({ markdown }) => scriptsOf(markdown).flat().length > 0);
const markdownOf = (page: string) => PAGES.find(({ name }) => name === page)?.markdown ?? '';

/** The orders that the examples of each page create, with their channels. */
const ORDERS: Record<string, Record<string, string>> = {
  'first-order': { 'FIRST-1': 'rest' },
  'try-a-source': {
    'my-shopify:5900000001001': 'webhook',
    'my-woocommerce:731': 'webhook',
    'my-salla:2116149737': 'webhook',
    'my-zid:39018491': 'webhook',
    'my-custom:OTHER-1': 'webhook',
    'my-custom-2:OTHER-2': 'webhook',
    'my-standard-webhooks:ord_2N4pQr': 'webhook',
  },
  webhooks: {
    'HOOK-BASH-1': 'webhook',
    'HOOK-NODE-1': 'webhook',
    'HOOK-PYTHON-1': 'webhook',
    'HOOK-PHP-1': 'webhook',
  },
  retries: {
    'RETRIES-BASH': 'rest',
    'RETRIES-NODE': 'rest',
    'RETRIES-PYTHON': 'rest',
    'RETRIES-PHP': 'rest',
  },
  bulk: {
    'BULK-1': 'rest',
    'BULK-2': 'rest',
    'FILE-1': 'rest',
    'FILE-2': 'rest',
    'TILL-1': 'rest',
    'TILL-2': 'rest',
  },
  corrections: { 'STATUS-1': 'rest' },
  events: { 'EVENT-1': 'rest' },
  // Its programs receive; test/guides/receiving-events.test.ts runs them.
  'receiving-events': {},
  sdk: Object.fromEntries(['SDK-1', 'PY-1', 'PHP-1', 'SDK-MANY-1', 'SDK-MANY-2'].map((id) => [id, 'rest'])),
};

/** The languages of the programs that `npm run test:quickstarts` runs. */
const QUICKSTARTS = ['csharp', 'go', 'java'];

/** The page of the examples for sources, and what each of its headings needs: a source, and of some the recorded delivery that is shown. */
const SOURCES_PAGE = 'try-a-source';
const SOURCES: Record<
  string,
  { preset: SourcePreset; settings?: SourceSettings; delivery?: RecordedOrder['delivery'] }
> = {
  Shopify: { preset: 'shopify', delivery: 'shopify/order' },
  WooCommerce: { preset: 'woocommerce', delivery: 'woocommerce/order' },
  Salla: { preset: 'salla', delivery: 'salla/order' },
  Zid: { preset: 'zid', delivery: 'zid/order' },
  'A signature in a header': { preset: 'custom' },
  'A token in a header': {
    preset: 'custom',
    settings: { signature: { scheme: 'token', header: 'authorization', prefix: 'Bearer ' } },
  },
  'Standard Webhooks': { preset: 'standard-webhooks', delivery: 'standard-webhooks/order' },
};
const RECORDED = Object.entries(SOURCES).flatMap(([heading, { preset, delivery }]) =>
  delivery ? [{ heading, preset, delivery }] : [],
);

const PACKAGE = resolve(import.meta.dirname, '../../packages/client');
const directory = makeDirectory();
/** The clients that some pages tell the reader to download or install first. */
const CLIENTS = [join(PACKAGE, 'python/orders.py'), join(PACKAGE, 'php/orders.php'), join(directory, 'node_modules')];

beforeAll(async () => {
  const installed = join(directory, 'node_modules/@orders/client');
  await mkdir(installed, { recursive: true });
  await run('tar', ['-xzf', join(PACKAGE, 'dist/orders-client.tgz'), '--strip-components=1', '-C', installed]);
});

const programsOf = (page: string) =>
  readBlocks(markdownOf(page)).filter(
    ({ language, heading }) => language === 'bash' && ['bash', 'Node', 'Python', 'PHP'].includes(heading),
  );
/** The four programs of the page about retries, with their languages. */
const PROGRAMS = programsOf('retries');

test('every block of the pages is an executed example, its output, or a display-only block', () => {
  const blocks = PAGES.flatMap(({ markdown }) => readBlocks(markdown));
  expect(new Set(blocks.map(({ language }) => language))).toEqual(
    new Set([...QUICKSTARTS, 'bash', 'http', 'json', 'shell', 'text']),
  );
  const settings = blocks.filter(({ language }) => language === 'shell');
  expect(settings).toHaveLength(11);
  expect(settings[0]?.text.match(/^export (ORDERS_\w+)=/gm)).toHaveLength(3);
  expect(new Set(Object.keys(ORDERS))).toEqual(new Set(WITH_EXAMPLES.map(({ name }) => name)));
});

test.each(RECORDED)(
  'the payload under $heading is a part of $delivery, and complete enough to deliver',
  ({ heading, preset, delivery }) => {
    const [block = ''] = blocksUnder(markdownOf(SOURCES_PAGE), heading, 'bash');
    const [, payload = ''] = /<<'END'\n([\s\S]*?)^END$/m.exec(block) ?? [];
    const shown = JSON.parse(payload);
    expect(JSON.parse(readDeliveryFixture(delivery).toString())).toMatchObject(shown);
    const { order } = normalizeOrder(mapOrder(shown, PRESETS[preset].mapping));
    expect(order).toMatchObject({ order_number: expect.any(String), total: expect.any(String), emirate_code: 'AE-DU' });
    expect(order.customer).toEqual(expect.objectContaining({ name: expect.any(String), phone: '+971501234567' }));
  },
);

test('no example contains characters that an interactive shell interprets', () => {
  for (const script of WITH_EXAMPLES.flatMap(({ markdown }) => scriptsOf(markdown).flat())) {
    const typed = script.replaceAll(/<<'END'\n[\s\S]*?^END$/gm, '');
    expect(typed).not.toMatch(/^\s*#|!|\t/m);
  }
});

describeWith(
  'curl',
  'openssl',
  'php',
  'python3',
)('the examples of the pages for senders', () => {
  const { stack, knex, db, intake, api } = useStack({ intake: { BASE_PATH: '/api' }, worker: true });

  const variables = ({ key, secret }: TestAccount, url = api.url) => ({
    ORDERS_URL: url,
    ORDERS_API_KEY: key,
    ORDERS_SIGNING_SECRET: secret ?? '',
  });

  /** The variables of an example for sources, with a new source of the kind that its heading needs. */
  async function sourceVariables(account: TestAccount, heading: string): Promise<Record<string, string>> {
    const secret = `whsec_${Buffer.alloc(32, 7).toString('base64')}`;
    const { preset, settings } = SOURCES[heading] ?? { preset: 'custom' };
    const { source_id } = await createTestSource(stack, account, preset, { secret, ...(settings && { settings }) });
    return { SOURCE_URL: `${api.url}/ingest/sources/${source_id}`, SOURCE_SECRET: secret };
  }

  /** The channels of an account's orders by source_order_id, after all its receipts are final. */
  async function ordersOf(account: TestAccount): Promise<Record<string, string>> {
    await until('each receipt is final', async () => {
      const states = await knex('receipts').where({ account_id: account.id }).pluck('state');
      return states.every((state) => ['written', 'duplicate'].includes(state));
    });
    const orders = await knex('orders').where({ account_id: account.id });
    expect(new Set(orders.map((order) => order.source_order_id)).size).toBe(orders.length);
    return Object.fromEntries(orders.map(({ source_order_id, channel }) => [source_order_id, channel]));
  }

  test.each(WITH_EXAMPLES.map(({ name }) => name))(
    'every example of %s works as pasted, prints the shown output, and creates each order once',
    async (name) => {
      const account = await stack.account({ signing: true });
      if (name === 'events' || name === 'sdk') await setEvents(db, account.id, true);
      const ran: string[] = [];
      const headings = readBlocks(markdownOf(name)).flatMap(({ language, heading }) =>
        language === 'bash' ? heading : [],
      );
      for (const [index, script] of scriptsOf(markdownOf(name)).entries()) {
        const ofSource = name === SOURCES_PAGE ? await sourceVariables(account, headings[index] ?? '') : {};
        ran.push(...(await paste(script, { ...variables(account), ...ofSource }, name === 'sdk' ? [] : CLIENTS)));
      }
      const shown = shownOutputs(markdownOf(name));
      expect(ran).toHaveLength(shown.length);
      const unlike = ran.filter((printed, index) => !isAsShown(printed, shown[index] ?? '…'));
      expect(unlike).toEqual([]);
      expect(await ordersOf(account)).toEqual(ORDERS[name]);
    },
  );

  test('the maximum wait is the one in the guides', async () => {
    const order = { source_order_id: 'capped' };
    const { headers } = await api.order(await stack.account(), order, { Prefer: 'wait=99' });
    const [, seconds] = /`Prefer: wait=N`: at most (\d+) seconds/.exec(markdownOf('reference')) ?? [];
    expect(headers['preference-applied']).toBe(`wait=${seconds}`);
  });

  test('programs with retries obey a dated Retry-After, survive a lost reply and a rate limit, and never retry early', async () => {
    expect(PROGRAMS).toHaveLength(4);
    await Promise.all(
      PROGRAMS.map(async ({ text, heading }) => {
        const account = await stack.account();
        await setRateLimit(db, account.id, { requests: 1, seconds: 15 });
        const front = await startLossyProxy(api.url);
        const [printed] = await paste([text], variables(account, front.url), CLIENTS).finally(() => front.close());
        const replies = intake.log.lines.filter(({ account_id }) => account_id === account.id);
        expect([heading, ...replies.map(({ status }) => status)]).toEqual([heading, 202, 429, 202]);
        expect(printed).toMatch(/duplicate\W+true/i);
        expect(await ordersOf(account)).toEqual({ [`RETRIES-${heading.toUpperCase()}`]: 'rest' });
      }),
    );
  });

  test.each(PROGRAMS)(
    'a correction through the unchanged $heading program is processed and held',
    async ({ text, heading }) => {
      const account = await stack.account();
      await setHoldChangedDeliveries(db, account.id, true);
      const corrected = text.replace('99.00', '89.00');
      expect(corrected).not.toBe(text);
      // The second correction is a retry and changes nothing.
      for (const program of [text, corrected, corrected]) await paste([program], variables(account), CLIENTS);
      expect(await ordersOf(account)).toEqual({ [`RETRIES-${heading.toUpperCase()}`]: 'rest' });
      const states = await knex('receipts').where({ account_id: account.id }).orderBy('state').pluck('state');
      expect(states).toEqual(['duplicate', 'written']);
      const held = await knex('changed_deliveries').where({ account_id: account.id });
      expect(held).toMatchObject([{ decision: null, changes: [{ pointer: '/total', from: '99.00', to: '89.00' }] }]);
    },
  );

  test.each([...PROGRAMS, ...programsOf('webhooks')])('a $heading program follows no redirect', async ({ text }) => {
    const other = await startReply(202, { receipt_id: 'elsewhere' });
    for (const status of [301, 302, 303, 307, 308]) {
      const service = await startReply(status, {}, { Location: `${other.url}/ingest/orders` });
      const env = { ORDERS_URL: service.url, ORDERS_API_KEY: 'oik_x', ORDERS_SIGNING_SECRET: 'oss_x' };
      const printed = await paste([text], env, CLIENTS).then(String, String);
      await service.close();
      expect(service.keys).toHaveLength(1);
      expect(printed).not.toContain('elsewhere');
    }
    expect(other.keys).toEqual([]);
    await other.close();
  });

  test.each(PROGRAMS)('the $heading program fails if its key was already used', async ({ text }) => {
    const kept = { receipt_id: 'original', duplicate: true, payload_mismatch: true, kept_as: 'kept' };
    const service = await startReply(202, kept);
    const env = { ORDERS_URL: service.url, ORDERS_API_KEY: 'oik_x' };
    await expect(paste([text], env, CLIENTS)).rejects.toThrow(/^ended with /);
    expect(service.keys).toEqual([expect.stringMatching(/^(RETRIES-[A-Z]+-[0-9a-f]{16}|[0-9a-f]{64})$/)]);
  });
});
