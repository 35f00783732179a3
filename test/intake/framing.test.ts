import { expect, test } from '@jest/globals';
import { exchange, openRaw } from '../harness/raw-http.ts';
import { useStack } from '../harness/use-stack.ts';

const { knex, api, account } = useStack({ intake: true, account: true });

const BODY = '{"source_order_id":"framing"}';

/** A request for an order with the given version, Host headers and framing. */
function request(version: string, hosts: string[], framing: string): Buffer {
  const lines = [
    `POST /ingest/orders HTTP/${version}`,
    ...hosts.map((host) => `Host: ${host}`),
    `Authorization: Bearer ${account.key}`,
    'Content-Type: application/json',
    framing,
  ];
  return Buffer.from(`${lines.join('\r\n')}\r\n\r\n`);
}

const CHUNKED_BODY = `${BODY.length.toString(16)}\r\n${BODY}\r\n0\r\n\r\n`;
const LENGTH = `Content-Length: ${BODY.length}`;

test.each([
  ['two Host headers', '1.1', ['a', 'b'], LENGTH, BODY, 400],
  ['the same Host header twice', '1.1', ['a', 'a'], LENGTH, BODY, 400],
  ['two Authorization headers', '1.1', ['a'], `Authorization: Bearer other\r\n${LENGTH}`, BODY, 400],
  ['a chunked body over HTTP/1.0', '1.0', ['a'], 'Transfer-Encoding: chunked', CHUNKED_BODY, 400],
  ['another transfer coding before chunked', '1.1', ['a'], 'Transfer-Encoding: gzip, chunked', CHUNKED_BODY, 501],
  ['HTTP/2.0', '2.0', ['a'], LENGTH, BODY, 505],
] as const)(
  'a request with %s is rejected, stores nothing and closes the connection',
  async (_what, version, hosts, framing, body, status) => {
    const connection = openRaw(api.url);
    connection.socket.write(Buffer.concat([request(version, [...hosts], framing), Buffer.from(body)]));
    expect((await connection.reply())?.status).toBe(status);
    await connection.closed;
    expect(await knex('receipts').where({ account_id: account.id })).toEqual([]);
  },
);

test('a plain chunked request is accepted', async () => {
  const chunked = request('1.1', ['a'], 'Transfer-Encoding: Chunked');
  expect((await exchange(api.url, chunked, CHUNKED_BODY))?.status).toBe(202);
});

test('replies forbid content sniffing and require HTTPS', async () => {
  const { headers } = await api.order(account, {});
  expect(headers).toMatchObject({
    'x-content-type-options': 'nosniff',
    'strict-transport-security': 'max-age=31536000',
  });
});

test.each(['package.json', 'index.html', 'swagger-initializer.js', 'README.md'])(
  '/docs/%s of the bundled documentation library is not served',
  async (file) => expect((await fetch(`${api.url}/docs/${file}`)).status).toBe(404),
);
