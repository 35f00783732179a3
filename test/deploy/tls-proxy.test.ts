import { execFile } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { createServer, type IncomingHttpHeaders } from 'node:http';
import { request } from 'node:https';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { promisify } from 'node:util';
import { beforeAll, expect, test } from '@jest/globals';
import { createKey } from '@orders/database/accounts/api-keys.ts';
import { startChild } from '@orders/test-services/child.ts';
import { freePort } from '@orders/test-services/ports.ts';
import { until } from '@orders/test-services/until.ts';
import { closeAtEnd } from '../harness/close-at-end.ts';
import { makeDirectory } from '../harness/directory.ts';
import { listen } from '../harness/listen.ts';
import { describeWith } from '../harness/programs.ts';
import { readShippedConfig } from '../harness/shipped-config.ts';
import { type Stack, startStack, type TestAccount } from '../harness/stack.ts';

const run = promisify(execFile);
const INTAKE = 'orders.example.com';
const PORTAL = 'portal.example.com';

describeWith('haproxy', 'openssl')('the TLS proxy of the Compose deployment', () => {
  let stack: Stack;
  let account: TestAccount;
  const directory = makeDirectory();
  let [httpPort, httpsPort] = [0, 0];

  beforeAll(async () => {
    stack = await startStack('postgres');
    account = await stack.account();
    const intake = await stack.intake({ RATE_LIMIT: '100000/1s' });
    [httpPort, httpsPort] = [await freePort(), await freePort()];
    // Replaces the portal: returns what the proxy forwards.
    const echo = await listen(createServer(({ headers }, response) => response.end(JSON.stringify(headers))));
    const [key, certificate] = [join(directory, 'tls.pem.key'), join(directory, 'tls.pem')];
    const subject = ['-subj', `/CN=${PORTAL}`, '-addext', `subjectAltName=DNS:${PORTAL},DNS:${INTAKE}`];
    // haproxy reads the key from the file of the same name with `.key`.
    const files = ['-keyout', key, '-out', certificate];
    await run('openssl', ['req', '-x509', '-newkey', 'rsa:2048', '-nodes', '-days', '2', ...subject, ...files]);
    // Without health checks: the first one takes a server out of use if it is late, as on a busy machine.
    const config = await readShippedConfig('compose/haproxy.cfg', {
      'bind :8080': `bind 127.0.0.1:${httpPort}`,
      'bind :8443': `bind 127.0.0.1:${httpsPort}`,
      '/run/secrets/tls': certificate,
      'maxconn 4000': 'maxconn 400',
      'http_req_rate(10s)': 'http_req_rate(1h)',
      'http_req_rate gt 5000': 'http_req_rate gt 100',
      'intake:8080 check port 9090 inter 1s fall 2': `127.0.0.1:${intake.service.port}`,
      'portal:8080 check port 9090 inter 1s fall 2': `127.0.0.1:${echo.port}`,
    });
    const file = join(directory, 'haproxy.cfg');
    await writeFile(file, config.replaceAll(' resolvers docker init-addr none', ''));
    const env = { ...process.env, INTAKE_URL: `https://${INTAKE}`, PORTAL_URL: `https://${PORTAL}` };
    await run('haproxy', ['-c', '-f', file], { env });
    const proxy = await startChild('haproxy', ['-db', '-f', file], { stdio: 'ignore', env });
    closeAtEnd({ close: () => proxy.stop() });
    let asked = 0;
    await until('the proxy reaches intake', async () => {
      // No address sends too much by it.
      const from = `127.0.1.${asked++ % 250}`;
      return ((await ask(INTAKE, '/', { from }).catch(() => null))?.status ?? 503) !== 503;
    });
  });

  /** One request over TLS on a new connection. */
  async function ask(
    host: string,
    path: string,
    { headers = {}, body, from = '127.0.0.1' }: { headers?: object; body?: string; from?: string } = {},
  ): Promise<{ status: number | undefined; headers: IncomingHttpHeaders; body: string }> {
    const method = body === undefined ? 'GET' : 'POST';
    const sent = request({
      host: '127.0.0.1',
      port: httpsPort,
      servername: host,
      rejectUnauthorized: false,
      agent: false,
      localAddress: from,
      method,
      path,
      headers: { Host: host, ...headers },
    });
    sent.end(body);
    const response = await new Promise<import('node:http').IncomingMessage>((resolve, reject) =>
      sent.once('response', resolve).once('error', reject),
    );
    return { status: response.statusCode, headers: response.headers, body: await text(response) };
  }
  const asSender = () => ({ Authorization: `Bearer ${account.key}`, 'Content-Type': 'application/json' });

  test('forwards orders for the host of INTAKE_URL to intake, and batches of several megabytes', async () => {
    const order = await ask(INTAKE, '/ingest/orders', { headers: asSender(), body: '{"source_order_id":"tls"}' });
    expect([order.status, JSON.parse(order.body)]).toMatchObject([202, { receipt_id: expect.any(String) }]);
    const orders = Array.from({ length: 100 }, (_, n) => ({ source_order_id: `tls-${n}`, note: 'x'.repeat(60_000) }));
    const body = JSON.stringify(orders);
    const batch = await ask(INTAKE, '/ingest/orders/batch', { headers: asSender(), body });
    expect([body.length > 6e6, batch.status]).toEqual([true, 202]);
  });

  test('tells the portal the address of the client, whatever the client claims', async () => {
    const forged = { 'X-Forwarded-For': '198.51.100.7', 'X-Forwarded-Proto': 'http' };
    const { status, headers, body } = await ask(PORTAL, '/', { headers: forged, from: '127.0.0.3' });
    expect([status, JSON.parse(body)]).toMatchObject([
      200,
      { 'x-forwarded-for': '127.0.0.3', 'x-forwarded-proto': 'https' },
    ]);
    expect(headers['strict-transport-security']).toBe('max-age=31536000');
  });

  test('tells intake the address of the client, so that a key limited to addresses cannot be used from another one', async () => {
    const { key } = await createKey(stack.database.db, account.id, 'limited', { addresses: ['127.0.0.3'] });
    const send = (from: string) =>
      ask(INTAKE, '/ingest/reconcile', {
        headers: { ...asSender(), Authorization: `Bearer ${key}`, 'X-Forwarded-For': '127.0.0.3' },
        body: '{"source_order_ids":["a"]}',
        from,
      });
    expect((await send('127.0.0.3')).status).toBe(200);
    expect(JSON.parse((await send('127.0.0.4')).body).code).toBe('address_not_allowed');
  });

  test('serves no other host', async () => {
    expect((await ask('elsewhere.example.com', '/')).status).toBe(421);
  });

  test('redirects browsers without TLS and rejects senders without TLS', async () => {
    const url = `http://127.0.0.1:${httpPort}/orders`;
    const page = await fetch(url, { redirect: 'manual', headers: { Host: PORTAL } });
    expect([page.status, page.headers.get('location')]).toEqual([308, expect.stringMatching(/^https:\/\/.*\/orders$/)]);
    const order = await fetch(url, { method: 'POST', headers: asSender(), body: '{}' });
    expect([order.status, await order.text()]).toEqual([403, 'Use https.\n']);
  });

  test('rejects an address that sends too fast, and no other', async () => {
    const statuses = new Set<number | undefined>();
    for (let n = 0; n < 150; n += 1) statuses.add((await ask(PORTAL, '/', { from: '127.0.0.9' })).status);
    expect(statuses).toEqual(new Set([200, 429]));
    expect((await ask(PORTAL, '/', { from: '127.0.0.10' })).status).toBe(200);
  });
});
