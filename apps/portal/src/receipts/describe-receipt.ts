import { listAudit, type ReceiptRecord } from '@orders/database';
import { attemptErrorDetail, payloadJson, receiptJson } from '@orders/domain';
import type { Knex } from 'knex';

/** Something that happened to a receipt. */
export interface ReceiptEvent {
  kind:
    | 'received'
    | 'kept'
    | 'normalized'
    | 'attempt_failed'
    | 'lease_lapsed'
    | 'redriven'
    | 'written'
    | 'duplicate'
    | 'dead';
  at: string;
  /** Of a failed attempt. */
  attempt?: number;
  code?: string;
  detail?: string;
  sqlstate?: string | null;
  constraint?: string | null;
  /** Of a redrive: who asked for it, where that is on record. */
  actor?: string | null;
  /** Of a delivery whose idempotency key another content used first: the receipt of that one. */
  kept_from?: string;
}

/** A receipt with its past and the body as received: `payload` where that is UTF-8, else `payload_base64`; the other is null. */
export async function describeReceipt(knex: Knex, receipt: ReceiptRecord) {
  return {
    ...receiptJson(receipt),
    events: await eventsOf(knex, receipt),
    erased_at: receipt.erased_at,
    payload: null,
    payload_base64: null,
    ...payloadJson(receipt.body),
  };
}

/** Oldest first. Of the times at which it was taken up only those of failed attempts, lapsed leases and the last are kept. */
async function eventsOf(knex: Knex, receipt: ReceiptRecord): Promise<ReceiptEvent[]> {
  const { receipt_id, account_id, state, history, normalized_at, updated_at } = receipt;
  const past = history ?? [];
  const redrives = past.some((entry) => 'redriven_at' in entry)
    ? await listAudit(knex, { accountId: account_id, subject: `receipt:${receipt_id}`, limit: 100 })
    : [];
  // Both times are that of one transaction.
  const actors = new Map(redrives.map(({ at, actor }) => [at.getTime(), actor]));
  const events = past.flatMap((entry, index) => pastEvents(entry, past[index - 1], actors));
  const isLastKept = normalized_at !== null && !past.some((entry) => isSame(entry.normalized_at, normalized_at));
  if (isLastKept) events.push({ kind: 'normalized', at: normalized_at.toISOString() });
  if (state === 'written' || state === 'duplicate' || state === 'dead')
    events.push({ kind: state, at: updated_at.toISOString() });
  const ofTheirTime = events.toSorted((a, b) => Date.parse(a.at) - Date.parse(b.at));
  return [{ kind: 'received', at: receipt.received_at.toISOString() }, ...ofTheirTime];
}

function isSame(time: unknown, at: Date): boolean {
  return typeof time === 'string' && Date.parse(time) === at.getTime();
}

type Entry = Record<string, unknown>;

/** An entry of a receipt's history: that it was kept, a failed attempt, a lapsed lease or a redrive, before which it died of the entry before. */
function pastEvents(entry: Entry, before: Entry | undefined, actors: ReadonlyMap<number, string>): ReceiptEvent[] {
  const at = (time: unknown) => new Date(time as string).toISOString();
  if ('redriven_at' in entry) {
    const redriven = at(entry.redriven_at);
    const died = before?.failed_at ?? before?.lease_lapsed_at ?? before?.kept_at;
    return [
      ...(died ? [{ kind: 'dead' as const, at: at(died) }] : []),
      { kind: 'redriven', at: redriven, actor: actors.get(Date.parse(redriven)) ?? null },
    ];
  }
  if ('kept_at' in entry) return [{ kind: 'kept', at: at(entry.kept_at), kept_from: entry.kept_from as string }];
  const taken: ReceiptEvent[] = entry.normalized_at ? [{ kind: 'normalized', at: at(entry.normalized_at) }] : [];
  if ('lease_lapsed_at' in entry) return [...taken, { kind: 'lease_lapsed', at: at(entry.lease_lapsed_at) }];
  const { attempt, code, sqlstate, constraint } = entry as {
    attempt: number;
    code: string;
    sqlstate: string | null;
    constraint: string | null;
  };
  const failed = { kind: 'attempt_failed', at: at(entry.failed_at), attempt, code, sqlstate, constraint } as const;
  return [...taken, { ...failed, detail: attemptErrorDetail(code) }];
}
