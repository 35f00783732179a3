import { listAudit } from '@orders/database/audit.ts';
import type { ReceiptRecord } from '@orders/database/receipts/receipt-records.ts';
import type { Connection } from '@orders/database/run.ts';
import { attemptErrorDetail, payloadJson, receiptJson } from '@orders/domain/receipt-json.ts';

/** An event in the life of a receipt. */
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
  /** The following five are set for `attempt_failed`. */
  attempt?: number;
  code?: string;
  detail?: string;
  sqlstate?: string | null;
  constraint?: string | null;
  /** For `redriven`: the actor from the audit trail, if any. */
  actor?: string | null;
  /** For `kept`, a delivery whose idempotency key was first used for other content: the receipt of that content. */
  kept_from?: string;
}

/**
 * A receipt with its events and its body: in `payload` if it is UTF-8, else in `payload_base64`; the other is null. `delivery` is what its
 * source received, if the body is the order made of it.
 */
export async function describeReceipt(database: Connection, receipt: ReceiptRecord) {
  return {
    ...receiptJson(receipt),
    events: await eventsOf(database, receipt),
    erased_at: receipt.erased_at,
    payload: null,
    payload_base64: null,
    ...payloadJson(receipt.body),
    source_number: receipt.source_number,
    delivery: receipt.raw && payloadJson(receipt.raw),
  };
}

/** Oldest first. Storage keeps the normalization times of failed attempts, lapsed leases and the last attempt only. */
async function eventsOf(database: Connection, receipt: ReceiptRecord): Promise<ReceiptEvent[]> {
  const { receipt_id, account_id, state, normalized_at, updated_at } = receipt;
  const history = receipt.history ?? [];
  const redrives = history.some((entry) => 'redriven_at' in entry)
    ? await listAudit(database, { accountId: account_id, subject: `receipt:${receipt_id}`, limit: 100 })
    : [];
  const times = history.flatMap((entry) => ('redriven_at' in entry ? [Date.parse(entry.redriven_at as string)] : []));
  // A redrive has the time when its transaction began, its audit entry a later one; a redrive without an actor has no entry.
  const actorOf = (time: number) => {
    const next = times.find((other) => other > time) ?? Number.POSITIVE_INFINITY;
    return redrives.find(({ at }) => at.getTime() >= time && at.getTime() < next)?.actor ?? null;
  };
  const events = history.flatMap((entry, index) => pastEvents(entry, history[index - 1], actorOf));
  const isLastMissing = normalized_at !== null && !history.some((entry) => isSame(entry.normalized_at, normalized_at));
  if (isLastMissing) events.push({ kind: 'normalized', at: normalized_at.toISOString() });
  if (state === 'written' || state === 'duplicate' || state === 'dead')
    events.push({ kind: state, at: updated_at.toISOString() });
  const sorted = events.toSorted((a, b) => Date.parse(a.at) - Date.parse(b.at));
  return [{ kind: 'received', at: receipt.received_at.toISOString() }, ...sorted];
}

function isSame(time: unknown, at: Date): boolean {
  return typeof time === 'string' && Date.parse(time) === at.getTime();
}

type Entry = Record<string, unknown>;

/** Events of a history entry: kept, a failed attempt, a lapsed lease, or a redrive. The entry before a redrive tells why the receipt became dead. */
function pastEvents(
  entry: Entry,
  before: Entry | undefined,
  actorOf: (redriven: number) => string | null,
): ReceiptEvent[] {
  const at = (time: unknown) => new Date(time as string).toISOString();
  if ('redriven_at' in entry) {
    const redriven = at(entry.redriven_at);
    const died = before?.failed_at ?? before?.lease_lapsed_at ?? before?.kept_at;
    return [
      ...(died ? [{ kind: 'dead' as const, at: at(died) }] : []),
      { kind: 'redriven', at: redriven, actor: actorOf(Date.parse(redriven)) },
    ];
  }
  if ('kept_at' in entry) return [{ kind: 'kept', at: at(entry.kept_at), kept_from: entry.kept_from as string }];
  const normalized: ReceiptEvent[] = entry.normalized_at ? [{ kind: 'normalized', at: at(entry.normalized_at) }] : [];
  if ('lease_lapsed_at' in entry) return [...normalized, { kind: 'lease_lapsed', at: at(entry.lease_lapsed_at) }];
  const { attempt, code, sqlstate, constraint } = entry as {
    attempt: number;
    code: string;
    sqlstate: string | null;
    constraint: string | null;
  };
  const failed = { kind: 'attempt_failed', at: at(entry.failed_at), attempt, code, sqlstate, constraint } as const;
  return [...normalized, { ...failed, detail: attemptErrorDetail(code) }];
}
