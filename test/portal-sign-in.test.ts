import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { Browser } from 'playwright-core';
import { expectAccessible, openBrowser, openPage, signInOnPage } from './harness/browser.ts';
import { createPerson, openPortalClient, signIn } from './harness/people.ts';
import { type RunningPortal, type Stack, startStack } from './harness/stack.ts';

let stack: Stack;
let portal: RunningPortal;
let browser: Browser;

beforeAll(async () => {
  stack = await startStack('postgres');
  portal = await stack.portal();
  browser = await openBrowser();
});
afterAll(async () => {
  await browser.close();
  await stack.close();
});

describe('signing in', () => {
  test('a person signs in, is named, and signs out', async () => {
    const person = await createPerson(stack, (await stack.account()).id);
    const client = await signIn(portal, person);
    const { status, body } = await client.get('/session');
    expect([status, body.email, body.role, body.account.account_id]).toEqual([
      200,
      person.email,
      'account_holder',
      person.accountId,
    ]);
    expect((await client.delete('/session')).status).toBe(204);
    expect((await client.get('/session')).body.code).toBe('not_signed_in');
  });

  test('a wrong password is refused, and so is every one after ten', async () => {
    const person = await createPerson(stack, (await stack.account()).id);
    const client = openPortalClient(portal);
    for (let attempt = 0; attempt < 10; attempt += 1) {
      const { status, body } = await client.post('/session', { email: person.email, password: 'not this one' });
      expect([status, body.code]).toEqual([401, 'wrong_credentials']);
    }
    const { status, body, headers } = await client.post(
      '/session',
      person.password ? { email: person.email, password: person.password } : {},
    );
    expect([status, body.code]).toEqual([429, 'too_many_attempts']);
    expect(Number(headers['retry-after'])).toBeGreaterThan(0);
  });

  test('in a browser, without a word on the console', async () => {
    const person = await createPerson(stack, (await stack.account()).id);
    const { page, complaints } = await openPage(browser);
    await page.goto(portal.url);
    await page.locator('form').waitFor();
    await expectAccessible(page);
    await signInOnPage(page, portal, person);
    await page.getByRole('heading', { name: 'Needs review' }).waitFor();
    expect(complaints).toEqual([]);
    await page.context().close();
  });
});
