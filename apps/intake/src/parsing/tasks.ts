import {
  contentFingerprint,
  diagnoseBody,
  diagnoseSignature,
  normalizeOrder,
  Problem,
  parseBody,
  readSourceOrderIds,
  validateOrder,
  validateStrictly,
  type WrongSignature,
} from '@orders/domain';

/** How the rules of a batch or an order are applied. */
interface ReadOptions {
  strict: boolean;
}

/**
 * What is done to a body: pure functions, in this thread or another. None keeps anything of what it parsed but its result, so that a
 * large payload is garbage before its request waits for Postgres.
 */
export const tasks = {
  /** @returns the order's `source_order_id`. @throws {Problem} `malformed_body` or `validation_failed`. */
  readOrder(body: Buffer, { strict }: ReadOptions): string {
    const payload = parseBody(body);
    if (strict) validateStrictly(payload);
    else validateOrder(payload);
    return payload.source_order_id as string;
  },

  /** @returns the order as it would be stored. @throws {Problem} as `readOrder`. */
  previewOrder(body: Buffer) {
    const payload = parseBody(body);
    validateOrder(payload);
    return normalizeOrder(payload);
  },

  /** @returns what two bodies of the same content have in common; see `contentFingerprint`. */
  fingerprint: (body: Buffer): string => contentFingerprint(body),

  /** @returns the ids that a reconcile request asks about. @throws {Problem} `malformed_body` or `validation_failed`. */
  readIds: (body: Buffer): string[] => readSourceOrderIds(parseBody(body)),

  /** Whether a stretch of a larger JSON text is JSON itself. */
  isJson(body: Buffer): boolean {
    try {
      JSON.parse(body.toString('utf8'));
      return true;
    } catch {
      return false;
    }
  },

  /** @returns why the body could not be read; see `diagnoseBody`. */
  diagnoseBody: (body: Buffer) => diagnoseBody(body),

  /** @returns what the signature was made with; see `diagnoseSignature`. */
  diagnoseSignature: (body: Buffer, wrong: Omit<WrongSignature, 'body'>) => diagnoseSignature({ ...wrong, body }),
};

export type Tasks = typeof tasks;
export type TaskName = keyof Tasks;
/** What a task takes beside the body. */
export type TaskOptions<Name extends TaskName> =
  Parameters<Tasks[Name]> extends [Buffer, infer Options] ? [Options] : [];

/** The result of a task in a form that can pass from one thread to another, where an error keeps nothing but its message. */
export type Outcome = { value: unknown } | { problem: Pick<Problem, 'code' | 'detail' | 'errors'> };

/** A task for the parsing thread. */
export interface ThreadTask {
  name: TaskName;
  body: Uint8Array<ArrayBuffer>;
  options: unknown[];
}

/** Runs a task in the thread that received it. */
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
