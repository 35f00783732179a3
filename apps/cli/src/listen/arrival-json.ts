import { payloadJson } from '@orders/domain';
import type { Arrival } from './create-listener.ts';
import { type Outcome, stateOf } from './deliveries.ts';
import { redactedHeaders } from './redact.ts';

/** A request as one JSON object; absent values are null. */
export function arrivalJson(arrival: Arrival, { raw }: { raw: boolean }): object {
  const { at, method, path, requestId, status, problem, cause, outcome, isSimulated, body, rawHeaders } = arrival;
  return {
    at,
    method,
    path,
    request_id: requestId,
    status,
    code: problem?.code ?? null,
    detail: problem?.detail ?? null,
    errors: problem?.errors ?? null,
    simulated: isSimulated,
    diagnosis: cause,
    ...(outcome ? outcomeJson(outcome) : NOT_ACCEPTED),
    ...(raw && { headers: redactedHeaders(rawHeaders), ...payloadJson(body) }),
  };
}

const NOT_ACCEPTED = { receipt_id: null, idempotency_key: null, repeats: null, order: null, warnings: [] };

function outcomeJson({ receipt, replayed, kept, changes }: Outcome): Record<keyof typeof NOT_ACCEPTED, unknown> {
  const { receiptId, idempotencyKey, original } = receipt;
  const { order, warnings } = kept ?? receipt;
  const earlier = replayed ? receipt : original;
  return {
    receipt_id: receiptId,
    idempotency_key: idempotencyKey,
    repeats: earlier && {
      by: replayed ? 'idempotency_key' : 'source_order_id',
      receipt_id: earlier.receiptId,
      payload_mismatch: kept !== null,
      kept_as: kept && { receipt_id: kept.receiptId, status: stateOf(kept), error: kept.error },
      changes,
    },
    order,
    warnings,
  };
}
