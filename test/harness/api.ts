import { Agent, createServer } from 'node:http';
import { isFinal } from '@orders/domain/receipt-states.ts';
import { until } from '@orders/test-services/until.ts';
import supertest from 'supertest';
import { checkReply } from '../jest/openapi-check.ts';
import { sign } from './hashes.ts';
import { listen } from './listen.ts';

/** An account whose credentials a test uses. */
export interface TestAccount {
  id: number;
  key: string;
  secret: string | null;
}

export interface Reply {
  status: number;
  headers: Record<string, string>;
  // biome-ignore lint/suspicious/noExplicitAny: tests read replies of every shape, and each is checked against the OpenAPI document.
  body: any;
}

type Headers = Record<string, string>;
type Verb = 'get' | 'post' | 'put' | 'delete' | 'patch' | 'options' | 'head';

/** The status of a reply, and the code of its problem. */
export const codeOf = ({ status, body }: Reply): [status: number, code: string] => [status, body.code];

/** A client of a running intake. It checks each reply, and each request that was accepted, against the exact OpenAPI document. */
export interface Api {
  url: string;
  /** Sends the body unchanged. */
  send(method: string, path: string, headers?: Headers, body?: string | Buffer): Promise<Reply>;
  order(account: TestAccount, order: unknown, headers?: Headers): Promise<Reply>;
  /** Sends a batch: an array or a string as a JSON array, a buffer as NDJSON. */
  batch(account: TestAccount, orders: unknown[] | string | Buffer, headers?: Headers): Promise<Reply>;
  webhook(account: TestAccount, order: unknown, headers?: Headers): Promise<Reply>;
  /** Sends `{ source_order_id, reason }` or `{ cancellations }`. */
  cancel(account: TestAccount, body: unknown, headers?: Headers): Promise<Reply>;
  webhookCancel(account: TestAccount, body: unknown, headers?: Headers): Promise<Reply>;
  preview(account: TestAccount, order: unknown, headers?: Headers): Promise<Reply>;
  reconcile(account: TestAccount, sourceOrderIds: readonly unknown[], headers?: Headers): Promise<Reply>;
  /** @param query such as `after=1&limit=10`. */
  events(account: TestAccount, query?: string, headers?: Headers): Promise<Reply>;
  status(account: TestAccount, receiptId: string, headers?: Headers): Promise<Reply>;
  /** Waits until the status is final, and returns it. */
  final(account: TestAccount, receiptId: string): Promise<Reply>;
  /** Sends an order that is accepted, and waits until its receipt is final. @returns the body of the final status. */
  process(account: TestAccount, order: unknown, headers?: Headers): Promise<Reply['body']>;
}

export async function openApi(url: string): Promise<Api> {
  const agent = supertest(url);
  // A connection each: one that is kept could be closed, by its server or with an earlier app on the same port, while it is used again.
  const connections = new Agent({ keepAlive: false });
  // Rejects until the app answers.
  await agent.get('/openapi.json').agent(connections);

  async function send(method: string, path: string, headers: Headers = {}, body?: string | Buffer): Promise<Reply> {
    const request = agent[method.toLowerCase() as Verb](path).agent(connections);
    for (const [name, value] of Object.entries(headers)) request.set(name, value);
    // supertest would serialize a string as JSON; it does not change a buffer.
    if (body !== undefined) request.serialize((bytes: Buffer) => bytes as unknown as string).send(Buffer.from(body));
    const response = await request.buffer(true);
    const reply = { status: response.status, headers: response.headers, body: jsonOf(response) };
    checkReply(method, path, reply, { headers, body });
    return reply;
  }

  const bearer = (account: TestAccount) => ({ Authorization: `Bearer ${account.key}` });
  const json = { 'Content-Type': 'application/json' };
  const status: Api['status'] = (account, receiptId, headers = {}) =>
    send('GET', `/ingest/status/${receiptId}`, { ...bearer(account), ...headers });

  const post =
    (path: string): Api['order'] =>
    (account, body, headers = {}) =>
      send('POST', path, { ...bearer(account), ...json, ...headers }, textOf(body));
  const postSigned =
    (path: string): Api['webhook'] =>
    (account, body, headers = {}) => {
      const signature = { 'x-service-signature': `sha256=${sign(account.secret, textOf(body))}` };
      return post(path)(account, body, { ...signature, ...headers });
    };

  const order = post('/ingest/orders');
  const final: Api['final'] = (account, receiptId) =>
    until('the receipt is final', async () => {
      const reply = await status(account, receiptId, { Prefer: 'wait=30' });
      return (reply.status !== 200 || isFinal(reply.body.status)) && reply;
    });

  return {
    url,
    send,
    status,
    order,
    final,
    async process(account, sent, headers = {}) {
      const accepted = await order(account, sent, headers);
      if (accepted.status !== 202) throw new Error(`The order was rejected: ${JSON.stringify(accepted.body)}`);
      return (await final(account, accepted.body.receipt_id)).body;
    },
    batch(account, orders, headers) {
      const type = Buffer.isBuffer(orders) ? { 'Content-Type': 'application/x-ndjson' } : {};
      return post('/ingest/orders/batch')(account, orders, { ...type, ...headers });
    },
    preview: post('/ingest/preview'),
    reconcile: (account, ids, headers) => post('/ingest/reconcile')(account, { source_order_ids: ids }, headers),
    events: (account, query = '', headers = {}) =>
      send('GET', `/ingest/events?${query}`, { ...bearer(account), ...headers }),
    webhook: postSigned('/ingest/webhook'),
    cancel: post('/ingest/orders/cancel'),
    webhookCancel: postSigned('/ingest/webhook/cancel'),
  };
}

function textOf(order: unknown): string | Buffer {
  return typeof order === 'string' || Buffer.isBuffer(order) ? order : JSON.stringify(order);
}

function jsonOf(response: supertest.Response): unknown {
  const type = response.headers['content-type'] ?? '';
  return /json/.test(type) && response.text ? JSON.parse(response.text) : response.text;
}

/** A service that gives every request this reply, and records the idempotency keys. */
export async function startReply(status: number, reply: object, headers: Record<string, string> = {}) {
  const keys: unknown[] = [];
  const server = createServer((request, response) => {
    keys.push(request.headers['idempotency-key']);
    request.resume();
    response.writeHead(status, { 'Content-Type': 'application/json', ...headers }).end(JSON.stringify(reply));
  });
  return { ...(await listen(server)), keys };
}
