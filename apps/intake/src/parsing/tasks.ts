import { readCancellations } from '@orders/domain/cancellations.ts';
import { contentFingerprint } from '@orders/domain/content-fingerprint.ts';
import { normalizeOrder } from '@orders/domain/normalize-order.ts';
import { LONG_BODY_BYTES, parseBody } from '@orders/domain/parse-body.ts';
import { Problem } from '@orders/domain/problems.ts';
import { diagnoseBody } from '@orders/domain/rejections/diagnose-request.ts';
import { diagnoseSignature, type WrongSignature } from '@orders/domain/rejections/diagnose-signature.ts';
import type { DeliveryKind } from '@orders/domain/sources/delivery-kind.ts';
import { isCostly } from '@orders/domain/sources/mapping.ts';
import { type DeliveryReading, readDelivery } from '@orders/domain/sources/read-delivery.ts';
import { readSourceOrderIds, validateOrder, validateStrictly } from '@orders/domain/validate-order.ts';

interface ReadOptions {
  strict: boolean;
}

interface DeliveryOptions extends DeliveryReading {
  headers: Record<string, string>;
}

/** A delivery to a source, with the payload as JSON. */
export interface ReadDeliveryBody {
  kind: DeliveryKind;
  deliveryId: string | null;
  modifiedAt: Date | null;
  /** Null if there is no valid one; then the payload is empty. */
  sourceOrderId: string | null;
  payload: string;
}

/**
 * Pure functions of a body, for the main thread or the parsing thread. None retains the parsed payload, so a large one is garbage
 * before its request waits for Postgres.
 */
export const tasks = {
  /** @returns the order's `source_order_id`. @throws {Problem} `malformed_body` or `validation_failed`. */
  readOrder(body: Buffer, { strict }: ReadOptions): string {
    const payload = parseBody(body);
    if (strict) validateStrictly(payload);
    else validateOrder(payload);
    return payload.source_order_id as string;
  },

  /** @returns what a delivery to a source is; see `readDelivery`. */
  readDelivery(body: Buffer, { headers, ...reading }: DeliveryOptions): ReadDeliveryBody {
    const { kind, deliveryId, modifiedAt, payload } = readDelivery(body, headers, reading);
    return {
      kind,
      deliveryId,
      modifiedAt,
      sourceOrderId: payload?.source_order_id ?? null,
      payload: payload ? JSON.stringify(payload) : '',
    };
  },

  /** @returns the order as it would be stored. @throws {Problem} like `readOrder`. */
  previewOrder(body: Buffer) {
    const payload = parseBody(body);
    validateOrder(payload);
    return normalizeOrder(payload);
  },

  /** @returns the same string for two bodies with the same content; see `contentFingerprint`. */
  fingerprint: (body: Buffer): string => contentFingerprint(body),

  /** @returns the ids of a reconcile request. @throws {Problem} `malformed_body` or `validation_failed`. */
  readIds: (body: Buffer): string[] => readSourceOrderIds(parseBody(body)),

  /** @returns the cancellations of a request. @throws {Problem} `malformed_body` or `validation_failed`. */
  readCancellations: (body: Buffer) => readCancellations(parseBody(body)),

  /** Whether a slice of a larger JSON text is valid JSON. */
  isJson(body: Buffer): boolean {
    try {
      JSON.parse(body.toString('utf8'));
      return true;
    } catch {
      return false;
    }
  },

  /** @returns why the body could not be parsed; see `diagnoseBody`. */
  diagnoseBody: (body: Buffer) => diagnoseBody(body),

  /** @returns how the wrong signature was made; see `diagnoseSignature`. */
  diagnoseSignature: (body: Buffer, wrong: Omit<WrongSignature, 'body'>) => diagnoseSignature({ ...wrong, body }),
};

export type Tasks = typeof tasks;
export type TaskName = keyof Tasks;
/** A task's arguments after the body. */
export type TaskOptions<Name extends TaskName> =
  Parameters<Tasks[Name]> extends [Buffer, infer Options] ? [Options] : [];

/** Whether a task may take more than a few milliseconds: its body is long, or the account wrote a costly mapping for it. */
export function takesLong(name: TaskName, body: Buffer, options: readonly unknown[]): boolean {
  if (body.length > LONG_BODY_BYTES) return true;
  return name === 'readDelivery' && isCostly((options as TaskOptions<'readDelivery'>)[0].mapping);
}

/** The result of a task as a structured clone: an error would keep only its message between threads. */
export type Outcome = { value: unknown } | { problem: Pick<Problem, 'code' | 'detail' | 'errors'> };

export interface ThreadTask {
  name: TaskName;
  body: Uint8Array<ArrayBuffer>;
  options: unknown[];
}

/** Entry point of the parsing thread. */
export default function runTask({ name, body, options }: ThreadTask): Outcome {
  const { buffer, byteOffset, byteLength } = body;
  const task = tasks[name] as (body: Buffer, ...options: unknown[]) => unknown;
  try {
    return { value: task(Buffer.from(buffer, byteOffset, byteLength), ...options) };
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    const { code, detail, errors } = error;
    return { problem: { code, detail, ...(errors && { errors }) } };
  }
}
