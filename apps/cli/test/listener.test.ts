import { expect, test } from '@jest/globals';
import { createApiKey, createSigningSecret } from '@orders/domain';
import { listen } from '@orders/runtime';
import { createListener } from '../src/listen/create-listener.ts';
import { createDeliveries } from '../src/listen/deliveries.ts';
import { NO_FAILURES } from '../src/listen/failures.ts';

test('the status of a receipt has the same Content-Length for HEAD as for GET', async () => {
  const apiKey = createApiKey();
  const secrets = { apiKey, signingSecret: createSigningSecret() };
  const setup = { ...secrets, basePath: '', failures: NO_FAILURES, deliveries: createDeliveries() };
  const { server, shutdown } = createListener(
    setup,
    () => {},
    () => {},
  );
  try {
    const url = `http://127.0.0.1:${await listen(server, '127.0.0.1', 0)}/ingest`;
    const headers = { Authorization: `Bearer ${apiKey}`, 'Content-Type': 'application/json', 'X-Request-Id': 'r-1' };
    const accepted = await fetch(`${url}/orders`, { method: 'POST', headers, body: '{"source_order_id":"1"}' });
    const { receipt_id: id } = (await accepted.json()) as { receipt_id: string };
    const [get, head] = await Promise.all(
      ['GET', 'HEAD'].map((method) => fetch(`${url}/status/${id}`, { method, headers })),
    );
    expect(get?.headers.get('content-length')).toBe(String(Buffer.byteLength((await get?.text()) ?? '')));
    expect(head?.headers.get('content-length')).toBe(get?.headers.get('content-length'));
  } finally {
    await shutdown.drain(1000);
  }
});
