import { once } from 'node:events';
import { connect } from 'node:net';
import { beforeAll, expect, test } from '@jest/globals';
import { until } from '@orders/test-services/until.ts';
import type { Reply } from '../harness/api.ts';
import { describeQueues } from '../harness/queue.ts';
import type { RunningIntake } from '../harness/stack.ts';
import { useStack } from '../harness/use-stack.ts';

describeQueues('duplicates, the queue on %s', (kind) => {
  let intakes: [RunningIntake, RunningIntake];

  const { stack, knex, account } = useStack({ queue: kind, worker: true, account: true });

  beforeAll(async () => {
    intakes = [await stack.intake(), await stack.intake()];
  });

  const key = (text: string) => ({ 'Idempotency-Key': text });
  const countOrders = async (sourceOrderId: string) =>
    (await knex('orders').where({ source_order_id: sourceOrderId })).length;
  const countReceipts = async (sourceOrderId: string) =>
    (await knex('receipts').where({ source_order_id: sourceOrderId })).length;

  test('a repeated key returns the original receipt, on either route', async () => {
    const { api } = intakes[0];
    const first = await api.order(account, { source_order_id: 'k-1' }, key('k-1'));
    expect(first.body).toEqual({ receipt_id: expect.any(String) });
    expect(first.headers.location).toBe(`/ingest/status/${first.body.receipt_id}`);
    expect(first.headers['idempotent-replayed']).toBeUndefined();
    for (const again of [
      await api.order(account, { source_order_id: 'k-1' }, key('k-1')),
      await intakes[1].api.webhook(account, { source_order_id: 'k-1' }, key('k-1')),
    ]) {
      expect(again.status).toBe(202);
      expect(again.body).toEqual({ receipt_id: first.body.receipt_id, duplicate: true });
      expect(again.headers['idempotent-replayed']).toBe('true');
    }
    await api.final(account, first.body.receipt_id);
    expect([await countReceipts('k-1'), await countOrders('k-1')]).toEqual([1, 1]);
  });

  test('other content under a used key is reported as a mismatch, and the same content in another spelling is not', async () => {
    const { api, log } = intakes[0];
    const { body: first } = await api.order(account, '{"source_order_id":"k-2","total":1}', key('k-2'));
    const respelled = await api.order(account, '{ "total": 1.0, "source_order_id": "k-2" }', key('k-2'));
    expect(respelled.body).toEqual({ receipt_id: first.receipt_id, duplicate: true });
    const other = await api.order(account, '{"source_order_id":"k-2","total":2}', key('k-2'));
    const { kept_as } = other.body;
    expect(other.body).toEqual({ receipt_id: first.receipt_id, duplicate: true, payload_mismatch: true, kept_as });
    expect(kept_as).toMatch(/^[0-9a-f-]{36}$/);
    expect(kept_as).not.toBe(first.receipt_id);
    const named = { level: 'warn', receipt_id: first.receipt_id, kept_receipt_id: kept_as, kept_as: 'resend' };
    expect(log.lines).toContainEqual(expect.objectContaining(named));
  });

  test('two accounts may use the same key', async () => {
    const other = await stack.account();
    const { api } = intakes[0];
    const mine = await api.order(account, { source_order_id: 'k-3' }, key('k-3'));
    const theirs = await api.order(other, { source_order_id: 'k-3' }, key('k-3'));
    expect(theirs.body.duplicate).toBeUndefined();
    expect((await api.final(account, mine.body.receipt_id)).body.status).toBe('written');
    expect((await api.final(other, theirs.body.receipt_id)).body.status).toBe('written');
    expect(await countOrders('k-3')).toBe(2);
  });

  test('two accounts may use the same key in the same batch', async () => {
    const { api } = intakes[0];
    const senders = [account, await stack.account()];
    const firsts: string[] = [];
    for (const sender of senders)
      firsts.push((await api.order(sender, { source_order_id: 'k-5' }, key('k-5'))).body.receipt_id);
    // Two pipelined requests on one connection arrive in one iteration of the event loop.
    const socket = connect(Number(new URL(api.url).port), '127.0.0.1').setEncoding('utf8');
    await once(socket, 'connect');
    let received = '';
    socket.on('data', (text) => {
      received += text;
    });
    const body = '{"source_order_id":"k-5"}';
    const requests = senders.map(
      (sender) =>
        `POST /ingest/orders HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${sender.key}\r\nIdempotency-Key: k-5\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
    );
    socket.write(requests.join(''));
    const replayed = await until('both replies', async () => {
      const found = [...received.matchAll(/"receipt_id":"([^"]+)","duplicate":true/g)].map(
        ([, receiptId]) => receiptId,
      );
      return found.length === 2 && found;
    });
    socket.destroy();
    expect(replayed).toEqual(firsts);
  });

  test('50 simultaneous requests with one key through two intakes and both routes get the same receipt', async () => {
    const replies = await Promise.all(
      Array.from({ length: 50 }, (_, index) => {
        const { api } = intakes[index % 2] as RunningIntake;
        const send = index % 3 === 0 ? api.webhook : api.order;
        return send(account, { source_order_id: 'k-4' }, key('k-4'));
      }),
    );
    expect(new Set(replies.map((reply) => reply.status))).toEqual(new Set([202]));
    expect(new Set(replies.map((reply) => reply.body.receipt_id)).size).toBe(1);
    expect(replies.filter((reply) => !reply.body.duplicate)).toHaveLength(1);
    expect(await countReceipts('k-4')).toBe(1);
  });

  test('50 simultaneous requests with one source_order_id and no key become one order and its duplicates', async () => {
    const replies = await Promise.all(
      Array.from({ length: 50 }, (_, index) => {
        const { api } = intakes[index % 2] as RunningIntake;
        const send = index % 3 === 0 ? api.webhook : api.order;
        return send(account, { source_order_id: 's-1', total: index });
      }),
    );
    const finals = await Promise.all(replies.map((reply) => intakes[0].api.final(account, reply.body.receipt_id)));
    const written = finals.filter((reply) => reply.body.status === 'written') as [Reply];
    expect(written).toHaveLength(1);
    const { receipt_id, order_id } = written[0].body;
    const duplicates = finals.filter((reply) => reply.body.status === 'duplicate');
    expect(duplicates).toHaveLength(49);
    for (const { body } of duplicates)
      expect(body).toMatchObject({ order_id: null, duplicate_of: { receipt_id, order_id } });
    expect(await countOrders('s-1')).toBe(1);
  });

  test('source_order_id is compared exactly as sent', async () => {
    const spellings = ['S-2', 's-2', ' s-2', 's-2 ', 'é-2', 'e\u0301-2'];
    const { api } = intakes[0];
    for (const source_order_id of spellings) {
      const { body } = await api.order(account, { source_order_id });
      expect((await api.final(account, body.receipt_id)).body).toMatchObject({ status: 'written', source_order_id });
    }
  });

  test('a webhook that is delivered twice without a key ends as a duplicate', async () => {
    const { api } = intakes[0];
    const first = await api.webhook(account, { source_order_id: 'w-1' });
    expect((await api.final(account, first.body.receipt_id)).body).toMatchObject({
      status: 'written',
      channel: 'webhook',
    });
    const again = await api.webhook(account, { source_order_id: 'w-1' });
    expect(again.body.duplicate).toBeUndefined();
    expect((await api.final(account, again.body.receipt_id)).body).toMatchObject({
      status: 'duplicate',
      duplicate_of: { receipt_id: first.body.receipt_id },
    });
  });
});
