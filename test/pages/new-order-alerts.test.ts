import { expect, test } from '@jest/globals';
import { until } from '@orders/test-services/until.ts';
import type { BrowserContextOptions, Page } from 'playwright-core';
import { expectAccessible, openPage, visitAs } from '../harness/browser.ts';
import { createPerson, type TestPerson } from '../harness/people.ts';
import { describeWith } from '../harness/programs.ts';
import { numbered, type ReviewedShop, rowOf, useReviewList } from '../harness/review-page.ts';

const describe = describeWith('chromium');

const { stack, api, portal, open } = useReviewList();

/** What the page asked of the browser. */
interface Asked {
  tones: number;
  notices: { title: string; body: string; tag: string; isClosed: boolean }[];
  focused: number;
}

/**
 * Records tones, notices and the focus of the window. Chromium without a window asks nobody for permission and shows no notice: the answer
 * is its own, and the notice is only recorded. `throws`: as browsers of phones do.
 */
const RECORD = (throws: boolean) => `(() => {
  const asked = { tones: 0, notices: [], focused: 0 };
  const { createOscillator } = AudioContext.prototype;
  AudioContext.prototype.createOscillator = function () {
    asked.tones += 1;
    return createOscillator.call(this);
  };
  const own = Notification;
  const shown = [];
  window.Notification = class {
    static permission = sessionStorage.getItem('answer') ?? 'default';
    static async requestPermission() {
      window.Notification.permission = await own.requestPermission();
      sessionStorage.setItem('answer', window.Notification.permission);
      return window.Notification.permission;
    }
    constructor(title, { body, tag }) {
      if (${throws}) throw new TypeError('Illegal constructor');
      this.recorded = { title, body, tag, isClosed: false };
      asked.notices.push(this.recorded);
      shown.push(this);
    }
    close() {
      this.recorded.isClosed = true;
    }
  };
  window.focus = () => { asked.focused += 1; };
  Object.assign(window, { asked, shown });
})()`;

const askedOf = (page: Page) => page.evaluate<Asked>('asked');

/** Opens the list of an account with a recorded browser, whose clock runs and can be moved on. */
async function visit(
  { account, person }: ReviewedShop,
  { throws = false, ...options }: BrowserContextOptions & { throws?: boolean } = {},
): Promise<Page> {
  const page = await openPage({ isHurried: true, ...options });
  await page.clock.install();
  await page.addInitScript(RECORD(throws));
  await visitAs(page, portal, person, `/accounts/${account.id}/orders`);
  await page.locator('.order-row').first().waitFor();
  return page;
}

/** Hides the tab or shows it again. */
async function setHidden(page: Page, isHidden: boolean): Promise<void> {
  await page.evaluate(`(() => {
    Object.defineProperty(document, 'hidden', { configurable: true, value: ${isHidden} });
    Object.defineProperty(document, 'visibilityState', { configurable: true, value: '${isHidden ? 'hidden' : 'visible'}' });
    document.dispatchEvent(new Event('visibilitychange', { bubbles: true }));
  })()`);
}

/**
 * Moves the clock of a hidden page on to its next poll, until one has had the newest order, and waits until its title begins so. The clock stands
 * while a poll is under way, which would otherwise end by its own time-out.
 */
async function titleBegins(page: Page, start: string): Promise<void> {
  const { knex } = stack.database;
  const isReached = async () => (await page.title()).startsWith(start);
  const newest = Number((await knex('orders').max('order_id as id'))[0]?.id);
  for (let isSent = false; !isSent && !(await isReached()); ) {
    const polled = page.waitForResponse(/\/orders\/updates/);
    await page.clock.fastForward(15_000);
    const { new: arrived } = await (await polled).json();
    isSent = arrived.orders.some(({ order_id }: { order_id: number }) => order_id === newest);
  }
  await until(`the title begins with ${start}`, isReached);
}

const send = async ({ account }: ReviewedShop, number: string) =>
  expect(await api.process(account, numbered(number))).toMatchObject({ status: 'written' });

const openMenu = (page: Page, { name }: TestPerson) => page.getByRole('button', { name: `Menu: ${name}` }).click();
const choice = (page: Page, name: string) => page.getByRole('switch', { name });
const COUNT = 'Count in the title of the tab';

async function isOn(page: Page, name: string, expected: boolean): Promise<void> {
  await page.locator(`[role=switch][aria-checked=${expected}]`, { hasText: name }).waitFor();
}

/** The polls of a page: whether each is one of a hidden page. */
function watchPolls(page: Page): boolean[] {
  const polls: boolean[] = [];
  page.on('request', (request) => {
    const url = new URL(request.url());
    if (url.pathname.endsWith('/orders/updates')) polls.push(url.searchParams.get('background') === 'true');
  });
  return polls;
}

describe('new orders', () => {
  test('are counted in the title while the tab is hidden', async () => {
    const shop = await open(numbered('T-1'));
    const page = await visit(shop);
    await setHidden(page, true);
    const polls = watchPolls(page);
    await send(shop, 'T-2');
    await titleBegins(page, '(1) Orders · ');
    await send(shop, 'T-3');
    await titleBegins(page, '(2) Orders · ');
    expect(new Set(polls)).toEqual(new Set([true]));
    await setHidden(page, false);
    await until('the count is gone', async () => (await page.title()).startsWith('Orders · '));
    await rowOf(page, 'T-3').waitFor();
    await until('it polls as one that is seen', async () => polls.includes(false));
    expect((await askedOf(page)).notices).toEqual([]);
  });

  test('are not polled for by a hidden tab that announces them in no way', async () => {
    const shop = await open(numbered('U-1'));
    const page = await visit(shop);
    await openMenu(page, shop.person);
    await choice(page, COUNT).click();
    await isOn(page, COUNT, false);
    await page.keyboard.press('Escape');
    const polls = watchPolls(page);
    await setHidden(page, true);
    await send(shop, 'U-2');
    for (let poll = 0; poll < 4; poll += 1) await page.clock.fastForward(15_000);
    await setHidden(page, false);
    await rowOf(page, 'U-2').waitFor();
    expect(polls).not.toContain(true);
  });

  test('are announced by a tone, which its switch plays as a sample, also after the page is loaded again', async () => {
    const shop = await open(numbered('S-1'));
    const page = await visit(shop);
    await openMenu(page, shop.person);
    await choice(page, 'Sound').click();
    await until('the sample is played', async () => (await askedOf(page)).tones === 1);
    await page.reload();
    await rowOf(page, 'S-1').waitFor();
    // Browsers permit a tone only after a key press or a click.
    await send(shop, 'S-2');
    await rowOf(page, 'S-2').waitFor();
    expect((await askedOf(page)).tones).toBe(0);
    await page.keyboard.press('j');
    await send(shop, 'S-3');
    await until('a tone is played', async () => (await askedOf(page)).tones === 1);
    await page.keyboard.press('Escape');
    await openMenu(page, shop.person);
    await choice(page, 'Sound').click();
    await isOn(page, 'Sound', false);
    await page.keyboard.press('Escape');
    await send(shop, 'S-4');
    await rowOf(page, 'S-4').waitFor();
    expect((await askedOf(page)).tones).toBe(1);
  });

  test('are announced by a notice of the desktop while the tab is hidden, without data of customers', async () => {
    const shop = await open(numbered('N-1'));
    const page = await visit(shop, { permissions: ['notifications'] });
    await openMenu(page, shop.person);
    await choice(page, 'Desktop notice').click();
    await isOn(page, 'Desktop notice', true);
    await page.keyboard.press('Escape');
    await send(shop, 'N-2');
    await rowOf(page, 'N-2').waitFor();
    expect((await askedOf(page)).notices).toEqual([]);
    await setHidden(page, true);
    await send(shop, 'N-3');
    await titleBegins(page, '(1)');
    await send(shop, 'N-4');
    await titleBegins(page, '(2)');
    const [{ name }] = await stack.database.knex('accounts').where({ account_id: shop.account.id });
    const notice = { body: name, tag: `new orders ${shop.account.id}` };
    expect((await askedOf(page)).notices).toEqual([
      { ...notice, title: '1 new order', isClosed: true },
      { ...notice, title: '2 new orders', isClosed: false },
    ]);
    await page.evaluate('shown[1].onclick()');
    const { notices, focused } = await askedOf(page);
    expect([focused, notices[1]?.isClosed]).toEqual([1, true]);
  });

  test('are announced by one of two tabs', async () => {
    const shop = await open(numbered('W-1'));
    const first = await visit(shop, { permissions: ['notifications'] });
    await openMenu(first, shop.person);
    for (const name of ['Sound', 'Desktop notice']) {
      await choice(first, name).click();
      await isOn(first, name, true);
    }
    await first.keyboard.press('Escape');
    await until('the sample is played', async () => (await askedOf(first)).tones === 1);
    const second = await first.context().newPage();
    await second.clock.install();
    await second.addInitScript("sessionStorage.setItem('answer', 'granted')");
    await second.addInitScript(RECORD(false));
    await second.goto(first.url());
    await rowOf(second, 'W-1').waitFor();
    await second.keyboard.press('j');
    /** The tones and notices of both tabs, once they have asked which of them is the first. */
    const askedOfBoth = async () => {
      const both = [first, second];
      for (const page of both) await page.evaluate("navigator.locks.request('after the others', () => {})");
      const asked = await Promise.all(both.map(askedOf));
      return { tones: asked.reduce((sum, { tones }) => sum + tones, 0), notices: asked.flatMap((one) => one.notices) };
    };
    for (const tones of [2, 3]) {
      await send(shop, `W-${tones}`);
      for (const page of [first, second]) await rowOf(page, `W-${tones}`).waitFor();
      await until('a tone is played', async () => (await askedOfBoth()).tones >= tones);
      expect((await askedOfBoth()).tones).toBe(tones);
    }
    await setHidden(second, true);
    await send(shop, 'W-4');
    await rowOf(first, 'W-4').waitFor();
    await titleBegins(second, '(1)');
    // The user sees it in the other tab.
    expect((await askedOfBoth()).notices).toEqual([]);
    await setHidden(first, true);
    await send(shop, 'W-5');
    await titleBegins(second, '(2)');
    await titleBegins(first, '(1)');
    await until('a notice is shown', async () => (await askedOfBoth()).notices.length > 0);
    expect((await askedOfBoth()).notices).toHaveLength(1);
  });

  test('whose notice the browser cannot show are still counted', async () => {
    const shop = await open(numbered('P-1'));
    const page = await visit(shop, { permissions: ['notifications'], throws: true });
    await openMenu(page, shop.person);
    await choice(page, 'Desktop notice').click();
    await isOn(page, 'Desktop notice', true);
    await setHidden(page, true);
    await send(shop, 'P-2');
    await titleBegins(page, '(1)');
  });
});

describe('the switches of new orders', () => {
  test('keep their choice on the device', async () => {
    const shop = await open(numbered('K-1'));
    const page = await visit(shop, { permissions: ['notifications'] });
    await openMenu(page, shop.person);
    const before = { [COUNT]: true, Sound: false, 'Desktop notice': false };
    for (const [name, on] of Object.entries(before)) {
      await isOn(page, name, on);
      await choice(page, name).click();
      await isOn(page, name, !on);
    }
    await expectAccessible(page);
    await page.reload();
    await openMenu(page, shop.person);
    for (const [name, on] of Object.entries(before)) await isOn(page, name, !on);
  });

  test('say that the browser does not allow notices, and where to allow them', async () => {
    const shop = await open(numbered('R-1'));
    const page = await visit(shop);
    await openMenu(page, shop.person);
    await choice(page, 'Desktop notice').click();
    await page.getByRole('alert').getByText('Allow notifications in the settings of this site').waitFor();
    await isOn(page, 'Desktop notice', false);
    await expectAccessible(page);
    await page.setViewportSize({ width: 375, height: 700 });
    await page.getByRole('radio', { name: 'العربية' }).click();
    await page.locator('html[dir=rtl]').waitFor();
    await page.getByText('اسمح بالإشعارات').waitFor();
    await expectAccessible(page);
  });

  test('are offered to those who review, and to nobody else', async () => {
    const shop = await open(numbered('V-1'));
    const person = await createPerson(stack, shop.account.id, 'viewer');
    const page = await visit({ ...shop, person });
    await openMenu(page, person);
    await page.getByRole('radio', { name: 'Compact' }).waitFor();
    expect(await page.getByRole('switch').count()).toBe(0);
  });
});
