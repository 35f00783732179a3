import { isDeepStrictEqual } from 'node:util';
import { beforeAll, expect, test } from '@jest/globals';
import type { MemberRole } from '@orders/database/users/memberships.ts';
import { until } from '@orders/test-services/until.ts';
import type { Page } from 'playwright-core';
import { openSeed } from '../cli/seed.ts';
import { expectAccessible, openPage, visitAs } from '../harness/browser.ts';
import { createPerson, signIn, type TestPerson } from '../harness/people.ts';
import { describeWith } from '../harness/programs.ts';
import { dispatch } from '../harness/review-list.ts';
import { afterKeys, numbered, rowOf, watchDecisions } from '../harness/review-page.ts';
import { useStack } from '../harness/use-stack.ts';

const describe = describeWith('chromium');
const ROLES = ['viewer', 'reviewer', 'developer', 'owner'] as const;
let people: Record<MemberRole, TestPerson>;
const ids = { order: 0, dead: '', endpoint: '' };

const { stack, knex, portal, account } = useStack({ portal: true, account: true });

beforeAll(async () => {
  const [intake] = await Promise.all([stack.intake(), stack.worker()]);
  const made = ROLES.map(async (role) => [role, await createPerson(stack, account.id, role)]);
  people = Object.fromEntries(await Promise.all(made));
  const owner = await signIn(portal, people.owner);
  const base = `/accounts/${account.id}`;
  const send = async (order: object) => (await intake.api.order(account, order, { Prefer: 'wait=20' })).body;
  // One order that was sent again with another total, and a dispatched one that its sender wants to cancel.
  await owner.put(`${base}/resends`, { resends: 'hold' });
  ids.order = (await send(numbered('S-1', { channel_note: 'from the shop' }))).order_id;
  await send(numbered('S-1', { channel_note: 'from the shop', total: '1300.00' }));
  const { order_id } = await send(numbered('S-2'));
  await owner.post(`${base}/orders/review`, { order_ids: [order_id], to: 'confirmed' });
  await dispatch(knex, order_id);
  await intake.api.cancel(account, { source_order_id: 'S-2', reason: 'Ordered twice' });
  const seed = openSeed(stack.database.url);
  ids.dead = await seed.dead(account.id, 'dead');
  await seed.close();
  await owner.post(`${base}/sources`, { name: 'Shop', preset: 'shopify' });
  await owner.put(`${base}/events`, { is_enabled: true });
  ids.endpoint = (await owner.post(`${base}/endpoints`, { url: 'https://shop.example.test/events' })).body.endpoint_id;
});

/** Opens a page of the account. */
async function visit(person: TestPerson, path: string, options = {}): Promise<Page> {
  const page = await openPage(options);
  // The page would ask about earlier sign-ins of the person.
  await knex('unconfirmed_sign_ins').delete();
  await visitAs(page, portal, person, `/accounts/${account.id}${path}`);
  return page;
}

const sorted = (names: string[]) => names.toSorted((one, other) => one.localeCompare(other));

/** The names of the enabled buttons and fields of the page, each once. */
async function controlsOf(page: Page): Promise<string[]> {
  const controls = page.locator('#content').locator('button, input, select, textarea, a.button');
  const enabled = controls.and(page.locator(':visible:not(:disabled)'));
  const names = await enabled.evaluateAll((all) =>
    all.map((element) => {
      const { labels, textContent } = element as unknown as { labels?: { textContent: string }[]; textContent: string };
      return element.getAttribute('aria-label') ?? labels?.[0]?.textContent ?? textContent;
    }),
  );
  return sorted([...new Set(names)]);
}

/** A page, a control that it has once it is loaded, and what each permission adds to what viewers are offered. */
interface OfferedPage {
  path: () => string;
  shows: string;
  viewer: string[];
  review?: string[];
  develop?: string[];
  /** For those who may review or develop. */
  either?: string[];
}

const LIST = [
  'Filters',
  'Hide until another delivery fails',
  'Keyboard shortcuts',
  'Saved views',
  'Search by order, customer, phone, e-mail, address or item',
  'Sort order: Newest first',
];
const COPIES = ['Copy', 'Copy the address', 'Copy the order as text', 'Copy the order number', 'Copy the phone number'];
const EDITED = ['Address', 'Currency', 'Customer', 'Emirate', 'Karak', 'Order number', 'Phone', 'Total'];
const ADDED = [
  'Area',
  'Customer id',
  'Delivery method',
  'Delivery time',
  'Details',
  'E-mail',
  'Instructions',
  'Payment',
];
const SEARCH = ['Find', 'Receipt id, idempotency key or source_order_id'];
const tab = (name: string) => () => `/developers?tab=${name}`;

const PAGES: Record<string, OfferedPage> = {
  'the list of confirmed orders': {
    path: () => '/orders?state=confirmed',
    shows: 'Ordered twice',
    viewer: LIST,
    review: ['Select all loaded orders', 'Select order S-2', 'Done: order S-2'],
  },
  'an order that was sent again': {
    path: () => `/orders/${ids.order}`,
    shows: 'Ordered twice',
    viewer: [
      ...LIST,
      ...COPIES,
      'As received',
      'Indented',
      'Back to the list',
      'Next order',
      'Previous order',
      'channel_note',
    ],
    review: [
      ...['Confirm order S-1', 'Reject order S-1', 'Select all loaded orders', 'Select order S-1', 'Done: order S-2'],
      ...['Keep the current version', 'Use the new version', 'Add a note for other reviewers', 'More actions'],
      ...['Message the customer', 'Next for me'],
      ...['Add an item', 'Remove: Karak', 'Add to the details', 'Add to the instructions'],
      ...[...EDITED.map((name) => `Edit: ${name}`), ...ADDED.map((name) => `Add ${name}`)],
    ],
  },
  'a dead receipt': {
    path: () => `/receipts/${ids.dead}`,
    shows: 'Received data',
    viewer: ['Copy'],
    either: ['Process again…'],
  },
  'the dead receipts': {
    path: () => '/receipts?state=dead',
    shows: 'dead',
    viewer: [...SEARCH, 'Cause', 'Failed after', 'Failed before', 'source_order_id begins with'],
    either: ['Process all of these again…'],
  },
  keys: {
    path: () => '/developers',
    shows: 'Last used',
    viewer: [],
    develop: ['Change limits', 'Create a key', 'Replace', 'Revoke', 'Turn on test mode'],
  },
  sources: {
    path: () => '/shops',
    shows: 'Shopify',
    viewer: [],
    develop: [
      ...[
        'Change the prefix of Shop',
        'Copy',
        'Connect a platform',
        'Edit the mapping',
        'How to connect',
        'Remove',
        'Replace the URL',
        'Replace the secret',
      ],
    ],
  },
  events: {
    path: tab('events'),
    shows: 'https://shop.example.test/events',
    viewer: ['Copy the command'],
    develop: ['Record events', 'Add an endpoint'],
  },
  'an endpoint': {
    path: () => `/developers?tab=events&endpoint=${ids.endpoint}`,
    shows: 'https://shop.example.test/events',
    viewer: ['Copy'],
    develop: ['More actions', 'Pause', 'Send a test event'],
  },
  'the signing secret': {
    path: tab('webhook'),
    shows: 'oss_••••••••••••',
    viewer: ['Copy'],
    develop: ['Reveal', 'Rotate the secret', 'Accept signed deliveries only'],
  },
  'the test order and the examples': {
    path: tab('try'),
    shows: 'Copy the code',
    viewer: ['Copy the code', 'Node.js', 'PHP', 'Python', 'curl', 'REST', 'signed webhook'],
    develop: ['Send a test order', 'Turn on test mode'],
  },
  settings: {
    path: () => '/settings',
    shows: 'No target',
    viewer: [],
    develop: [
      'Hold the order',
      'Only show it',
      'No target',
      '15 minutes',
      '30 minutes',
      '1 hour',
      '2 hours',
      '4 hours',
      '1 day',
    ],
  },
};

describe('each role is offered what it permits, and nothing else', () => {
  const opened = new Map<MemberRole, Page>();

  beforeAll(async () => {
    for (const role of ROLES) {
      const page = await openPage({ stays: true });
      await knex('unconfirmed_sign_ins').delete();
      await visitAs(page, portal, people[role], `/accounts/${account.id}/orders`);
      opened.set(role, page);
    }
  });

  test.each(Object.keys(PAGES))('%s', async (name) => {
    const { path, shows, viewer, review = [], develop = [], either = [] } = PAGES[name] as OfferedPage;
    const offered: Record<MemberRole, string[]> = {
      viewer,
      reviewer: [...viewer, ...review, ...either],
      developer: [...viewer, ...develop, ...either],
      owner: [...viewer, ...review, ...develop, ...either],
    };
    for (const [role, page] of opened) {
      await page.goto(`${portal.url}/accounts/${account.id}${path()}`);
      await page.getByText(shows, { exact: true }).first().waitFor();
      const expected = sorted(offered[role]);
      // What is missing may still come.
      await until('', async () => isDeepStrictEqual(await controlsOf(page), expected)).catch(() => {});
      expect([role, await controlsOf(page)]).toEqual([role, expected]);
      if (role === 'viewer') await expectAccessible(page);
    }
  });
});

describe('a viewer', () => {
  test('cannot decide by keyboard shortcuts, and the list of shortcuts has none of them', async () => {
    const page = await visit(people.viewer, '/orders');
    const decisions = watchDecisions(page);
    await rowOf(page, 'S-1').waitFor();
    for (const key of ['j', 'x', 'c', 'r', 'e', 'u']) await page.keyboard.press(key);
    await afterKeys(page);
    expect(await page.locator('dialog, .field-editor').count()).toBe(0);
    await page.keyboard.press('?');
    const keys = await page.getByRole('dialog').locator('kbd').allTextContents();
    expect(keys).toEqual(['J', '↓', 'K', '↑', 'Enter', '/', 'Ctrl K', 'Esc', '?']);
    expect(decisions).toEqual([]);
  });

  test('opens the mapping of a source by its address, and sees the list of sources', async () => {
    const page = await visit(people.viewer, '/shops?show=mapping&source=1');
    await page.getByText('Shopify', { exact: true }).waitFor();
    expect(await controlsOf(page)).toEqual([]);
  });
});

test('somebody who only reviews is offered the orders; another page opens by its address', async () => {
  const navigation = (page: Page) => page.getByRole('navigation', { name: 'Main' }).getByRole('link').allTextContents();
  const others = ['Deliveries', 'Shops', 'Developers', 'Settings'];
  const page = await visit(people.reviewer, '/orders');
  await page.getByRole('link', { name: 'See it' }).click();
  await page.locator('.receipt-rows a').first().click();
  await page.getByText('Received data', { exact: true }).waitFor();
  expect(await navigation(page)).toEqual(['Orders']);
  for (const role of ['viewer', 'developer'] as const)
    expect(await navigation(await visit(people[role], '/orders'))).toEqual(['Orders', ...others, 'Activity']);
  expect(await navigation(await visit(people.owner, '/orders'))).toEqual(['Orders', ...others, 'People', 'Activity']);
});

describe('the page of users', () => {
  const users = (page: Page) => page.getByRole('navigation', { name: 'Main' }).getByRole('link', { name: 'People' });

  test.each(ROLES)('is in the menu and in the palette of owners only: %s', async (role) => {
    const page = await visit(people[role], '/log');
    const isOwner = role === 'owner';
    await page.getByText('Who did what in this account').waitFor();
    expect(await users(page).count()).toBe(isOwner ? 1 : 0);
    await page.keyboard.press('Control+k');
    await page.getByRole('combobox').fill('people');
    await page.getByText(isOwner ? '1 result' : 'Nothing found.').waitFor();
    await page.keyboard.press('Escape');
    await page.getByRole('button', { name: /^Menu/ }).click();
    await page.getByText(`Role: ${role}`).waitFor();
    await page.goto(`${portal.url}/accounts/${account.id}/users`);
    await page.getByText(isOwner ? 'Invite a user' : 'Your role in this account does not permit this').waitFor();
    await expectAccessible(page);
  });
});

describe('a suspended account', () => {
  test('says so to its members and offers them only what viewers may do; operators keep everything', async () => {
    const page = await visit(people.owner, `/orders/${ids.order}`);
    const reject = page.getByRole('button', { name: 'Reject order S-1' });
    const notice = page.locator('main > .note');
    await reject.waitFor();
    expect(await notice.count()).toBe(0);
    await knex('accounts').where({ account_id: account.id }).update({ suspended_at: knex.fn.now() });
    try {
      // The page learns it from the first request that fails.
      await page.getByLabel('Add a note for other reviewers').fill('Called');
      await page.getByRole('button', { name: 'Save the note' }).click();
      await notice.getByText('nothing can be changed until the operator resumes it').waitFor();
      await reject.waitFor({ state: 'detached' });
      await expectAccessible(page);
      const [height, inner] = await page.evaluate<number[]>(
        '[document.documentElement.scrollHeight, window.innerHeight]',
      );
      expect(height).toBe(inner);
      await page.goto(`${portal.url}/accounts/${account.id}/developers`);
      await page.getByText('Last used', { exact: true }).waitFor();
      expect(await controlsOf(page)).toEqual([]);
      expect(await page.getByRole('link', { name: 'People' }).count()).toBe(0);
      const other = await visit(await createPerson(stack, null), `/orders/${ids.order}`);
      await other.getByRole('button', { name: 'Reject order S-1' }).waitFor();
      expect(await other.locator('main > .note').count()).toBe(0);
    } finally {
      await knex('accounts').where({ account_id: account.id }).update({ suspended_at: null });
    }
  });

  test('that was moved says so to its members, and to operators where it is', async () => {
    const moved = { suspended_at: new Date(), moving_since: new Date(), moved_to: 'https://orders-2.example.com' };
    await knex('accounts').where({ account_id: account.id }).update(moved);
    try {
      const page = await visit(people.owner, '/orders');
      await page.getByText('This account was moved to another installation of the service.').waitFor();
      const operator = await visit(await createPerson(stack, null), '/orders');
      await operator.goto(`${portal.url}/operator`);
      await operator.getByText('moved', { exact: true }).waitFor();
      await operator.getByRole('button', { name: /^Manage / }).click();
      await operator.getByText('Moved to https://orders-2.example.com').waitFor();
      await expectAccessible(operator);
    } finally {
      const here = { suspended_at: null, moving_since: null, moved_to: null };
      await knex('accounts').where({ account_id: account.id }).update(here);
    }
  });
});

describe('a person with several accounts', () => {
  test('switches between them by the menu and the palette, each with its role, and the last one opens first', async () => {
    const other = await stack.account();
    const person = await createPerson(stack, account.id, 'owner');
    const [id] = await knex('users').where({ email: person.email }).pluck('id');
    await knex('memberships').insert({ user_id: id, account_id: other.id, role: 'viewer' });
    const [name] = await knex('accounts').where({ account_id: other.id }).pluck('name');
    const [ownName] = await knex('accounts').where({ account_id: account.id }).pluck('name');
    const page = await visit(person, '/users');
    const at = (path: string) => page.waitForURL(`${portal.url}/accounts/${path}`);
    await page.getByRole('button', { name: ownName }).click();
    const dialog = page.getByRole('dialog', { name: 'Switch to another account' });
    // Only the other one, with the role in it.
    await dialog.getByText('1 result').waitFor();
    await dialog.getByText('viewer').waitFor();
    await expectAccessible(page);
    await dialog.getByRole('option', { name }).click();
    // The page of users is not theirs there.
    await at(`${other.id}/orders`);
    await page.getByRole('link', { name: 'Activity' }).click();
    await page.goto(portal.url);
    await at(`${other.id}/orders`);
    await page.getByRole('link', { name: 'Activity' }).click();
    await page.keyboard.press('Control+k');
    await page.getByRole('combobox').fill(ownName);
    await page.getByRole('option', { name: ownName }).waitFor();
    await page.keyboard.press('Enter');
    await at(`${account.id}/overview`);
    await page.getByRole('link', { name: 'People' }).waitFor();
    await page.goto(portal.url);
    await at(`${account.id}/orders`);
  });

  test('has no button to switch with one account', async () => {
    const page = await visit(people.owner, '/log');
    await page.getByText('Who did what in this account').waitFor();
    expect(await page.locator('button.bar-account').count()).toBe(0);
  });
});
