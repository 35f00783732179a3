import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { expect, test } from '@jest/globals';
import { send, useDirectory } from '../harness/send.ts';
import { until } from '../harness/until.ts';

const files = useDirectory();
const IDS = Array.from({ length: 2000 }, (_, at) => `order-${String(at).padStart(5, '0')}`);
const TERMINAL = { isTTY: true, columns: 100 };

/** A service that accepts batches, and holds all after the first `accepted` orders until `release`. */
async function startSlowService(accepted: number) {
  const { promise: released, resolve: release } = Promise.withResolvers<void>();
  let received = 0;
  const server = createServer(async (request, response) => {
    const orders = (await text(request)).trim().split('\n');
    received += orders.length;
    if (received > accepted) await released;
    const results = orders.map((_, at) => ({ receipt_id: `receipt-${at}` }));
    response.setHeader('content-type', 'application/json');
    response.writeHead(202).end(JSON.stringify({ accepted: orders.length, refused: 0, mismatched: 0, results }));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return { url: `http://127.0.0.1:${port}`, release, close: () => server.close() };
}

test.each([
  ['ndjson', IDS.map((id) => `{"source_order_id":"${id}"}\n`).join('')],
  ['json', JSON.stringify(IDS.map((source_order_id) => ({ source_order_id })))],
  ['csv', `source_order_id,total\r\n${IDS.map((id) => `${id},12.50\r\n`).join('')}`],
])('the progress bar of %s shows what has a reply, not what was read', async (format, content) => {
  const service = await startSlowService(400);
  const file = await files.write(`progress.${format}`, content);
  const shown: string[] = [];
  const write = (line: string) => shown.push(line);
  const args = [file, '--no-wait', '--batch-size', '100', '--concurrency', '1', '--give-up-after', '2s'];
  const sending = send({ url: service.url, key: 'oik_x' }, args, '', { ...TERMINAL, write });
  try {
    const line = await until('400 orders have a reply', async () => shown.find((one) => one.includes(' 400 orders')));
    expect(line).toMatch(/^\r\[#####-{19}\] (19|20) % 400 orders, /);
  } finally {
    service.release();
    expect(await sending).toMatchObject({ code: 0 });
    service.close();
  }
});
