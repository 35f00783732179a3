import { randomUUIDv7 } from 'node:crypto';
import { type Channel, parseBody, validateOrder, validateStrictly } from '@orders/domain';
import { acceptedJson, type Preferences, readIdempotencyKey, readPreferences } from '@orders/http';
import { type Logger, spanned } from '@orders/runtime';
import type { Request, RequestHandler, Response } from 'express';
import { contextOf, holderOf, namesOf } from './context.ts';
import type { IntakeMetrics } from './metrics.ts';
import type { ReceiptReader } from './receipt-reader.ts';
import type { ReceiptWaiters } from './receipt-waiters.ts';
import type { ReceiptWriter, Recorded } from './receipt-writer.ts';
import { waitFor } from './wait-for.ts';

interface Deps {
  reader: ReceiptReader;
  writer: ReceiptWriter;
  waiters: ReceiptWaiters;
  metrics: Pick<IntakeMetrics, 'acceptSeconds' | 'mismatches'>;
  logger: Logger;
  basePath: string;
}

/** Accepts the order in an authenticated, verified request: 202 once its receipt is durable. */
export function acceptOrder(channel: Channel, deps: Deps): RequestHandler {
  return async (request, response) => {
    const idempotencyKey = readIdempotencyKey(request);
    const preferences = readPreferences(request);
    const payload = parseBody(request.body);
    if (preferences.handling === 'strict') {
      response.set('Preference-Applied', 'handling=strict');
      validateStrictly(payload);
    } else validateOrder(payload);
    const context = contextOf(request);
    const { span } = context;
    context.receiptId = randomUUIDv7();
    const receipt = {
      receiptId: context.receiptId,
      accountId: holderOf(request).accountId,
      channel,
      sourceOrderId: payload.source_order_id as string,
      idempotencyKey,
      body: request.body,
    };
    const recorded = await keepingPlace(request, () =>
      spanned(span?.begin('record receipt'), () => deps.writer.record(receipt, span)),
    );
    deps.metrics.acceptSeconds.observe((performance.now() - context.startedAt) / 1000);
    noteOutcome(request, recorded, deps);
    await reply(response, recorded, preferences, deps);
  };
}

/** Until it is over the request keeps its place among those in flight, even if its client has gone: what is recorded takes memory still. */
export async function keepingPlace<Result>(request: Request, work: () => Promise<Result>): Promise<Result> {
  const context = contextOf(request);
  const { leave } = context;
  context.leave = () => {};
  try {
    return await work();
  } finally {
    leave();
  }
}

function noteOutcome(request: Request, recorded: Recorded, deps: Deps): void {
  const context = contextOf(request);
  context.receiptId = recorded.receiptId;
  if (!recorded.payloadMismatch) return;
  deps.metrics.mismatches.inc();
  deps.logger.warn('idempotency key repeated with another payload', namesOf(context));
}

async function reply(response: Response, recorded: Recorded, preferences: Preferences, deps: Deps): Promise<void> {
  const { receiptId, duplicate } = recorded;
  const outcome = preferences.wait === null ? null : await outcomeAfter(preferences.wait, response, receiptId, deps);
  const applied = [
    ...(preferences.handling ? [`handling=${preferences.handling}`] : []),
    ...(outcome ? [`wait=${preferences.wait}`] : []),
  ];
  if (applied.length > 0) response.set('Preference-Applied', applied.join(', '));
  if (duplicate) response.set('Idempotent-Replayed', 'true');
  // Node's own calls: Express' cost a tenth of the whole request.
  response.statusCode = 202;
  response
    .setHeader('Location', `${deps.basePath}/ingest/status/${receiptId}`)
    .setHeader('Content-Type', 'application/json; charset=utf-8')
    .end(JSON.stringify(acceptedJson(recorded, outcome)));
}

/** Waits, then says how far the receipt is; null when Postgres is lost meanwhile, for the order is accepted all the same. */
async function outcomeAfter(seconds: number, response: Response, receiptId: string, deps: Deps) {
  try {
    const final = await waitFor(response, receiptId, seconds, deps.waiters);
    if (final) return { status: final.state, order_id: final.order_id };
    const receipt = await deps.reader.find(holderOf(response.req).accountId, receiptId);
    return receipt && { status: receipt.state, order_id: receipt.order_id };
  } catch {
    return null;
  }
}
