import { type SecretsKeys, unseal } from '@orders/database/accounts/seal.ts';
import type { Database } from '@orders/database/connect.ts';
import type { Problem } from '@orders/domain/problems.ts';
import type { Channel } from '@orders/domain/receipt-states.ts';
import { diagnoseBody, diagnoseHeaders } from '@orders/domain/rejections/diagnose-request.ts';
import { findSignedValues, type WrongSignature } from '@orders/domain/rejections/diagnose-signature.ts';
import { isRejection, type RejectionCode } from '@orders/domain/rejections.ts';
import { readSignature } from '@orders/http/read-headers.ts';
import { createMicroBatcher } from '@orders/runtime/concurrency/micro-batcher.ts';
import type { Counter } from '@orders/runtime/observability/metrics.ts';
import type { Request } from 'express';
import type { Parser } from '../parsing/parser.ts';
import { BATCH_PATH, CANCEL_PATH, ORDERS_PATH, SOURCE_ROUTE, WEBHOOK_CANCEL_PATH, WEBHOOK_PATH } from '../paths.ts';
import { findSecretsToDiagnose } from '../pipeline/verify-signature.ts';
import { contextOf } from '../request-context.ts';
import { createMissedRejections } from './missed-rejections.ts';
import { type NewRejection, recordRejected } from './record-rejected.ts';
import { createRejectionBudget } from './rejection-budget.ts';

/** Records rejected deliveries for the portal, which shows accounts what was rejected and why. */
export interface RejectionLog {
  /**
   * Records a rejection after its reply, in the background. Never fails.
   *
   * @param order the rejected order of a batch; absent if the whole request was rejected.
   */
  note(request: Request, problem: Problem, order?: Buffer): void;
  /** Waits for pending rows, and writes the counts of rejections without a row. */
  close(): Promise<void>;
}

const CHANNELS: Record<string, Channel> = {
  [ORDERS_PATH]: 'rest',
  [BATCH_PATH]: 'rest',
  [WEBHOOK_PATH]: 'webhook',
  [CANCEL_PATH]: 'rest',
  [WEBHOOK_CANCEL_PATH]: 'webhook',
  [SOURCE_ROUTE]: 'webhook',
};

/** Max rejections that wait to be written; each may hold a body. More are only counted, so an outage of Postgres costs no memory. */
const MAX_WAITING = 32;
const MAX_ERRORS = 20;
const MAX_POINTER = 200;

/** The diagnosis of a batch that is rejected as a whole. A diagnosis for single orders would mislead, and the body is long. */
const WHOLE_BATCH = 'whole_batch';

/** A rejection that waits to be diagnosed and written; only `rejection` is stored. */
interface Waiting {
  rejection: NewRejection;
  code: RejectionCode;
  body: Buffer | undefined;
  wrong: Omit<WrongSignature, 'body' | 'secrets'>;
}

/**
 * Records rejected requests that have a valid key or the URL of a source. Up to a rate, each gets a row; above it, rejections are only counted. Diagnosis and
 * write happen after the reply.
 *
 * @param deps.secretsKeys unseal signing secrets, to diagnose a wrong signature.
 * @param deps.unrecorded counts rejections without a row.
 */
export function createRejectionLog(deps: {
  database: Database;
  parser: Parser;
  secretsKeys: SecretsKeys;
  unrecorded: Counter<never>;
}): RejectionLog {
  const { database, parser, secretsKeys, unrecorded } = deps;
  const budget = createRejectionBudget();
  let pending = 0;
  let nonePending = Promise.withResolvers<void>();
  const missed = createMissedRejections({ database, budget, hasPendingRows: () => pending > 0 });

  async function write(batch: Waiting[]): Promise<void> {
    try {
      const rejections: NewRejection[] = [];
      for (const waiting of batch) {
        // The diagnosis may fail, for example if an old secret was sealed with another key; the row is written without it.
        const diagnosis = await diagnose(waiting).catch(() => null);
        rejections.push({ ...waiting.rejection, diagnosis });
      }
      await recordRejected(database, rejections);
    } catch {
      // No order depends on these rows, so they are dropped and only counted.
      unrecorded.inc(batch.length);
      for (const { rejection } of batch) budget.returnMissed(rejection.accountId, rejection.more + 1);
      missed.schedule();
    }
    pending -= batch.length;
    if (pending === 0) nonePending.resolve();
  }

  const add = createMicroBatcher<Waiting>({
    maxConcurrent: 1,
    nextBatchSize: (waiting) => waiting.length,
    work: write,
  });

  async function diagnose(waiting: Waiting): Promise<string | null> {
    const { code, body, wrong, rejection } = waiting;
    const { accountId } = rejection;
    if (rejection.diagnosis !== null) return rejection.diagnosis;
    if (code === 'malformed_body') return body ? parser.run({ accountId }, 'diagnoseBody', body) : diagnoseBody(body);
    if (code !== 'invalid_signature' || !body) return null;
    const secrets = (await findSecretsToDiagnose(database, accountId)).map(({ sealed, isLive }) => ({
      secret: unseal(secretsKeys, accountId, sealed),
      isLive,
    }));
    return parser.run({ accountId }, 'diagnoseSignature', body, { ...wrong, secrets });
  }

  return {
    note(request, { code, errors }, order) {
      const { authenticated, route, requestId } = contextOf(request);
      const channel = CHANNELS[route];
      if (!authenticated || !channel || !isRejection(code)) return;
      const { accountId } = authenticated;
      const isSource = 'sourceNumber' in authenticated;
      const token = pending < MAX_WAITING ? budget.take(accountId) : budget.miss(accountId);
      if (!token) {
        missed.schedule();
        return unrecorded.inc();
      }
      // A copy, as a slice would keep the whole batch in memory.
      const body: Buffer | undefined = order ? Buffer.from(order) : request.body;
      const isWholeBatch = route === BATCH_PATH && !order;
      if (pending === 0) nonePending = Promise.withResolvers();
      pending += 1;
      add({
        code,
        rejection: {
          accountId,
          keyId: isSource ? null : authenticated.keyId,
          sourceNumber: isSource ? authenticated.sourceNumber : null,
          channel,
          code,
          requestId,
          diagnosis: isWholeBatch ? WHOLE_BATCH : isSource ? null : diagnoseHeaders(code, request.headers),
          bodyBytes: body?.length ?? announcedLength(request),
          errors:
            errors?.slice(0, MAX_ERRORS).map((error) => ({
              pointer: error.pointer.slice(0, MAX_POINTER).toWellFormed(),
              code: error.code,
            })) ?? null,
          more: token.missed,
        },
        // The diagnosis of a signature is about the account's signing secret.
        body:
          (code === 'malformed_body' || code === 'invalid_signature') && !isWholeBatch && !isSource ? body : undefined,
        wrong: {
          header: readSignature(request) ?? '',
          apiKey: request.get('authorization')?.split(' ').at(-1) ?? '',
          values: findSignedValues(request.headers),
        },
      });
    },
    async close() {
      if (pending > 0) await nonePending.promise;
      await missed.close();
    },
  };
}

/** The Content-Length of a body that was not read. */
function announcedLength(request: Request): number | null {
  const length = Number(request.get('content-length') ?? Number.NaN);
  return Number.isSafeInteger(length) && length >= 0 && length < 2 ** 31 ? length : null;
}
