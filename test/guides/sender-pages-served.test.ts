import { createHash } from 'node:crypto';
import { describe, expect, test } from '@jest/globals';
import { readSenderPages } from '@orders/intake/docs/sender-pages/sender-pages.ts';
import { VERSION } from '@orders/runtime/version.ts';
import { expectAccessible, openPage } from '../harness/browser.ts';
import { describeWith } from '../harness/programs.ts';
import { useStack } from '../harness/use-stack.ts';

const { api } = useStack({ intake: { BASE_PATH: '/delivery/api' } });

const COUNT = new Intl.NumberFormat('en');
const AT = '/delivery/api/docs/senders';
const GUIDES = readSenderPages();
/** The guides, and the page that lists the clients. */
const PATHS = [...GUIDES.map(({ name }) => (name === 'README' ? '' : `/${name}`)), '/clients'];

describe('the pages for senders', () => {
  test.each(PATHS)('/docs/senders%s refers only to resources of this service, and all of them exist', async (path) => {
    const page = await api.send('GET', `/docs/senders${path}`);
    expect(page.status).toBe(200);
    expect(page.headers['content-type']).toBe('text/html; charset=utf-8');
    const policy = page.headers['content-security-policy'] as string;
    expect(policy).toContain("default-src 'none'");
    expect(policy).not.toContain('unsafe');
    // Links lead elsewhere only when a reader follows them.
    const body = String(page.body).replaceAll(/<a href="https:[^"]+"/g, '<a');
    const references = [...body.matchAll(/ (?:src|href)="([^"]+)"/g)].map(([, one]) => one as string);
    expect(references.length).toBeGreaterThan(GUIDES.length);
    for (const reference of new Set(references.filter((one) => !one.startsWith('#')))) {
      expect(reference).toMatch(/^\/delivery\/api\/docs/);
      const { status } = await fetch(new URL(reference, api.url));
      expect({ reference, status }).toEqual({ reference, status: 200 });
    }
  });

  test('each page is also served as Markdown', async () => {
    for (const { name, markdown } of GUIDES) {
      const { headers, body } = await api.send('GET', `/docs/senders/${name}.md`);
      expect(headers['content-type']).toBe('text/markdown; charset=utf-8');
      expect(body).toBe(markdown);
    }
  });

  test('the index is found with a trailing slash and as Markdown with working links', async () => {
    const { status, headers } = await api.send('GET', '/docs/senders/');
    expect([status, headers.location]).toEqual([308, AT]);
    const index = await api.send('GET', '/docs/senders.md');
    expect(index.headers['content-type']).toBe('text/markdown; charset=utf-8');
    const links = [...String(index.body).matchAll(/\]\(([^)]+)\)/g)].map(([, href]) => href as string);
    expect(links.length).toBeGreaterThanOrEqual(GUIDES.length - 1);
    for (const link of links) {
      const reply = await fetch(new URL(`/delivery/api/docs/${link}`, api.url));
      expect([link, reply.status]).toEqual([link, 200]);
    }
  });

  test.each([
    ['HEAD', '/docs/senders/errors', 200],
    ['POST', '/docs/senders/errors', 405],
    ['DELETE', '/docs/senders', 405],
    ['POST', '/docs/senders.md', 405],
    ['POST', '/docs/senders/', 404],
    ['HEAD', '/docs/senders/clients/orders.py', 200],
    ['POST', '/docs/senders/clients/orders.php', 405],
    ['GET', '/docs/senders/clients/index.ts', 404],
    ['GET', '/docs/senders/none', 404],
    ['GET', '/docs/senders/README', 404],
    ['GET', '/docs/senders/../../package.json', 404],
    ['GET', '/docs/senders/render-page.ts', 404],
  ])('%s %s: %d', async (method, path, status) => {
    const reply = await api.send(method, path);
    expect(reply.status).toBe(status);
    if (status === 405) expect(reply.headers.allow).toBe('GET, HEAD');
  });

  test('the clients are served with their digests', async () => {
    const sums = String((await api.send('GET', '/docs/senders/clients/SHA256SUMS')).body);
    const page = String((await api.send('GET', '/docs/senders/clients.md')).body);
    for (const name of ['orders.py', 'orders.php', 'orders-client.tgz']) {
      const file = await fetch(`${api.url}/docs/senders/clients/${name}`);
      expect([file.status, file.headers.get('content-disposition')]).toEqual([200, `attachment; filename=${name}`]);
      const bytes = await file.bytes();
      const digest = createHash('sha256').update(bytes);
      const hex = digest.copy().digest('hex');
      expect(sums).toContain(`${hex}  ${name}\n`);
      expect(page).toMatch(new RegExp(`^\\| \\[orders.* ${COUNT.format(bytes.length)} \\| \`${hex}\` \\|$`, 'm'));
      expect(file.headers.get('repr-digest')).toBe(`sha-256=:${digest.digest('base64')}:`);
    }
  });

  test('the page of the clients names the package with its version, which is the same file', async () => {
    const { status, headers } = await api.send('GET', '/docs/senders/clients/');
    expect([status, headers.location]).toEqual([308, `${AT}/clients`]);
    const page = String((await api.send('GET', '/docs/senders/clients')).body);
    const name = `orders-client-${VERSION}.tgz`;
    expect(page).toContain(`<a href="${AT}/clients/${name}">`);
    expect(page).toContain(`npm install &quot;$ORDERS_URL/docs/senders/clients/${name}&quot;`);
    const [file, newest] = await Promise.all(
      [name, 'orders-client.tgz'].map((one) => fetch(`${api.url}/docs/senders/clients/${one}`)),
    );
    expect(file?.headers.get('content-disposition')).toBe(`attachment; filename=${name}`);
    expect(await file?.bytes()).toEqual(await newest?.bytes());
    expect((await api.send('GET', '/docs/senders/clients/orders-client-0.0.1.tgz')).status).toBe(404);
  });

  test('the type of a problem is the URL of its description', async () => {
    const { body } = await api.send('POST', '/ingest/orders', {}, '{}');
    expect(body.type).toBe(`${AT}/errors#missing_api_key`);
    const page = await (await fetch(new URL(body.type, api.url))).text();
    expect(page).toContain(`<h3 id="${body.code}">`);
  });

  test('the API reference links to the pages', async () => {
    expect((await api.send('GET', '/docs')).body).toContain(`<a href="${AT}">`);
    expect((await api.send('GET', '/openapi.json')).body.info.description).toContain(`](${AT})`);
  });
});

describeWith('chromium')('the pages for senders in a browser', () => {
  test.each(PATHS)(
    '/docs/senders%s is accessible, fits a desktop and a phone, and requests no other host',
    async (path) => {
      const page = await openPage({ colorScheme: 'light' });
      await page.goto(new URL(AT + path, api.url).href);
      await expectAccessible(page);
      // The index is a list of all guides itself.
      const guides = page.getByRole(path === '' ? 'main' : 'navigation').getByRole('link');
      const listed = await guides.evaluateAll((links) => links.map((link) => link.getAttribute('href')));
      for (const { name } of GUIDES) if (name !== 'README') expect(listed).toContain(`${AT}/${name}`);
      await page.emulateMedia({ colorScheme: 'dark' });
      await page.setViewportSize({ width: 360, height: 740 });
      await expectAccessible(page);
      if (path !== '') {
        expect(await guides.first().isVisible()).toBe(false);
        await page.locator('summary').click();
      }
      await guides.last().waitFor();
      expect(await page.evaluate('document.documentElement.scrollWidth - innerWidth')).toBeLessThanOrEqual(0);
    },
  );

  test('links between guides work, and an example can be copied', async () => {
    const page = await openPage({ permissions: ['clipboard-read', 'clipboard-write'] });
    await page.goto(new URL(AT, api.url).href);
    await page.getByRole('main').getByRole('link', { name: 'Errors' }).click();
    await page.getByRole('heading', { name: 'invalid_signature' }).waitFor();
    await page.getByRole('link', { name: 'the usual mistakes' }).click();
    await page.waitForURL(`**${AT}/webhooks#the-usual-mistakes`);
    const example = page.locator('.code').filter({ hasText: 'webhook.py' });
    await example.getByRole('button', { name: 'Copy' }).click();
    await example.getByRole('button', { name: 'Copied' }).waitFor();
    expect(await page.evaluate('navigator.clipboard.readText()')).toMatch(
      /^cat > webhook\.py[\s\S]*\npython3 webhook\.py\n$/,
    );
  });
});
