import { randomUUIDv7 } from 'node:crypto';
import type { Database } from '@orders/database/connect.ts';
import { run } from '@orders/database/run.ts';
import { namedHeaders } from '@orders/domain/sources/read-delivery.ts';
import { writeAccepted } from '@orders/http/write-accepted.ts';
import { createFairQueue } from '@orders/runtime/concurrency/fair-sharing.ts';
import type { Request, RequestHandler } from 'express';
import type { SourceActivity } from '../observability/source-activity.ts';
import type { Parser } from '../parsing/parser.ts';
import type { ReadDeliveryBody } from '../parsing/tasks.ts';
import type { SourceOfDelivery } from '../pipeline/find-sources.ts';
import type { Recorded } from '../receipts/receipt-writer.ts';
import { storeUnmapped } from '../receipts/store-unmapped.ts';
import { callerOf, contextOf, sourceOf } from '../request-context.ts';
import type { Canceller } from './post-cancel.ts';
import { type RecordDeps, recordOrder } from './post-order.ts';

const USE = {
  name: 'use-source',
  text: `
update sources set used_at = coalesce(used_at, now()) where account_id = $1::int and source_number = $2::int
returning id_prefix as "idPrefix"`,
};

const FIND = {
  name: 'find-order-of-source',
  text: `
select order_id from order_keys
where account_id = $1::int and source_order_id = $2::text and order_id is not null`,
};

/**
 * Marks a source as used, before it takes its first order or cancellation. Its prefix stays from then on: a change of it waits for this
 * statement or this statement for it.
 *
 * @returns the prefix.
 */
export async function useSource(database: Database, accountId: number, sourceNumber: number): Promise<string> {
  const [used] = await run<{ idPrefix: string }>(database, USE, [accountId, sourceNumber]);
  if (!used) throw new Error('sources are never deleted');
  return used.idPrefix;
}

interface Deps extends RecordDeps {
  database: Database;
  parser: Parser;
  cancel: Canceller;
  activity: SourceActivity;
  basePath: string;
}

const PREFERENCES = { wait: null, handling: null };
/** Max concurrent statements that store unmapped deliveries, one per account: the pool is mainly for the receipt writer. */
const MAX_CONCURRENT = 2;

/**
 * `POST /ingest/sources/{source_id}`: takes an authentic delivery as its source says. An order is recorded like one of the webhook route,
 * as the mapping makes it; one that the platform has finished only if it was sent before. A cancellation is carried out. A delivery without
 * a `source_order_id` is stored as a dead receipt. Other events are ignored.
 */
export function postDelivery(deps: Deps): RequestHandler {
  const { activity, parser, cancel, database, basePath } = deps;
  const runFairly = createFairQueue<number>(MAX_CONCURRENT, 1);

  /** Until a source is used its prefix may change, so that of the cached source may be outdated. */
  async function markUsed(source: SourceOfDelivery): Promise<void> {
    if (source.isUsed) return;
    source.idPrefix = await useSource(database, source.accountId, source.sourceNumber);
    source.isUsed = true;
  }

  /** Whether there is an order with this id, which a delivery can change. */
  async function isKnown(accountId: number, sourceOrderId: string | null): Promise<boolean> {
    if (sourceOrderId === null) return false;
    return (await runFairly(accountId, () => run(database, FIND, [accountId, sourceOrderId]))).length > 0;
  }

  /** @returns the outcome of a delivery without a receipt, or its receipt. */
  async function take(request: Request, source: SourceOfDelivery): Promise<string | Recorded> {
    const { body: raw } = request;
    const { accountId, sourceNumber, settings, mapping } = source;
    const headers = namedHeaders(request.headers, settings);
    const read = (idPrefix: string) =>
      parser.run(callerOf(request), 'readDelivery', raw, { headers, settings, mapping, idPrefix });
    let delivery = await read(source.idPrefix);
    const { kind } = delivery;
    if (kind !== 'ignored' && delivery.sourceOrderId !== null && !source.isUsed) {
      const { idPrefix } = source;
      await runFairly(accountId, () => markUsed(source));
      if (source.idPrefix !== idPrefix) delivery = await read(source.idPrefix);
    }
    const { sourceOrderId } = delivery;
    if (kind === 'ignored' || (kind === 'finished' && !(await isKnown(accountId, sourceOrderId)))) {
      activity.note(source, kind);
      return kind;
    }
    if (sourceOrderId === null) {
      const { modifiedAt } = delivery;
      const unmapped = { receiptId: randomUUIDv7(), accountId, sourceNumber, body: raw, kind, modifiedAt };
      await runFairly(accountId, () => storeUnmapped(database, unmapped));
      contextOf(request).receiptId = unmapped.receiptId;
      activity.note(source, 'mapping_failed', unmapped.receiptId);
      return { receiptId: unmapped.receiptId, duplicate: false, payloadMismatch: false };
    }
    if (kind === 'cancellation') {
      const cancellations = [{ sourceOrderId, reason: null }];
      const outcomes = await cancel({
        accountId,
        by: { sourceNumber, modifiedAt: delivery.modifiedAt },
        cancellations,
      });
      activity.note(source, kind);
      return outcomes.get(sourceOrderId)?.outcome ?? 'held';
    }
    const receipt = receiptOf(source, { ...delivery, sourceOrderId }, raw);
    const recorded = await recordOrder(request, receipt, deps);
    activity.note(source, kind, recorded.receiptId);
    return recorded;
  }

  return async (request, response) => {
    const taken = await contextOf(request).slot.holdUntil(() => take(request, sourceOf(request)));
    if (typeof taken === 'string') response.json({ outcome: taken });
    else writeAccepted(response, taken, { basePath, preferences: PREFERENCES, outcome: null });
  };
}

function receiptOf(
  { accountId, sourceNumber }: SourceOfDelivery,
  { sourceOrderId, deliveryId, payload, kind, modifiedAt }: ReadDeliveryBody & { sourceOrderId: string },
  raw: Buffer,
) {
  return {
    receiptId: randomUUIDv7(),
    accountId,
    channel: 'webhook' as const,
    sourceOrderId,
    // With the source, because two platforms can use the same ids. The key of a client cannot contain a space.
    idempotencyKey: deliveryId && `source ${sourceNumber}:${deliveryId}`,
    body: Buffer.from(payload),
    delivery: { sourceNumber, raw, kind, modifiedAt },
  };
}
