import {
  type Database,
  findSecretsToDiagnose,
  type NewRejection,
  recordRejected,
  type SecretsKeys,
  unseal,
} from '@orders/database';
import {
  type Channel,
  type Diagnosis,
  diagnoseBody,
  diagnoseMediaType,
  hasAnotherSignature,
  isRejection,
  type Problem,
  type RejectionCode,
} from '@orders/domain';
import { readSignature } from '@orders/http';
import { type Counter, createMicroBatcher } from '@orders/runtime';
import type { Request } from 'express';
import type { Parser } from '../parsing/parser.ts';
import { BATCH_PATH, ORDERS_PATH, WEBHOOK_PATH } from '../paths.ts';
import { contextOf } from '../request-context.ts';
import { createMissedRejections } from './missed-rejections.ts';
import { createRejectionBudget } from './rejection-budget.ts';

/** Tells accounts, through the portal, which of their deliveries were refused and why. */
export interface RejectionLog {
  /**
   * Notes a refusal that was answered. It takes no time of the request, and never fails.
   *
   * @param order the one of a batch that is refused, where that is not refused whole.
   */
  note(request: Request, problem: Problem, order?: Buffer): void;
  /** Waits for those under way, and writes how many others were refused. */
  close(): Promise<void>;
}

const CHANNELS: Record<string, Channel> = {
  [ORDERS_PATH]: 'rest',
  [BATCH_PATH]: 'rest',
  [WEBHOOK_PATH]: 'webhook',
};

/** Refusals that wait to be written; each may hold a body. More are counted only, so a Postgres that is away costs no memory. */
const MAX_WAITING = 32;
const MAX_ERRORS = 20;
const MAX_POINTER = 200;

/** The cause of a batch that is refused whole: what is said of single orders would mislead its sender. It is not looked at further. */
const WHOLE_BATCH = 'whole_batch';

/** What has to be known of a request for as long as its refusal waits; nothing of it is stored but in `rejection`. */
interface Waiting {
  rejection: NewRejection;
  code: RejectionCode;
  body: Buffer | undefined;
  /** A whole batch is not looked at for its mistakes: it is many times as long as an order. */
  isBatch: boolean;
  signature: string;
  apiKey: string;
}

/**
 * Keeps the refusals of those whose key named an account: up to a rate, and of the others the number. The cause is looked for, and
 * the row is written, after the reply and outside of every request.
 *
 * @param deps.secretsKeys open signing secrets, to see what a wrong signature was made with.
 * @param deps.unrecorded counts refusals that are in no row of the log.
 */
export function createRejectionLog(deps: {
  database: Database;
  parser: Parser;
  secretsKeys: SecretsKeys;
  unrecorded: Counter<never>;
}): RejectionLog {
  const { database, parser, secretsKeys, unrecorded } = deps;
  const budget = createRejectionBudget();
  let unsettled = 0;
  const missed = createMissedRejections({ database, budget, isWriting: () => unsettled > 0 });
  let settled = Promise.withResolvers<void>();

  async function write(group: Waiting[]): Promise<void> {
    try {
      const rejections: NewRejection[] = [];
      for (const one of group) {
        // One that cannot be diagnosed, as when its account's old secret was sealed under another key, is kept without.
        const diagnosis = await diagnose(one).catch(() => null);
        rejections.push({ ...one.rejection, diagnosis });
      }
      await recordRejected(database, rejections);
    } catch {
      // A row that Postgres does not take is dropped, as no order depends on it, and counted with those before it.
      unrecorded.inc(group.length);
      for (const { rejection } of group) budget.release(rejection.accountId, rejection.more + 1);
      missed.schedule();
    }
    unsettled -= group.length;
    if (unsettled === 0) settled.resolve();
  }

  const add = createMicroBatcher<Waiting>({ maxConcurrent: 1, take: (waiting) => waiting.length, work: write });

  async function diagnose(one: Waiting): Promise<string | null> {
    const { code, body, signature, apiKey, rejection } = one;
    const { accountId } = rejection;
    if (code === 'malformed_body' && !one.isBatch)
      return body ? parser.run({ accountId }, 'diagnoseBody', body) : diagnoseBody(body);
    if (code !== 'invalid_signature' || !body) return rejection.diagnosis;
    const secrets = (await findSecretsToDiagnose(database, accountId)).map(({ sealed, isLive }) => ({
      secret: unseal(secretsKeys, accountId, sealed),
      isLive,
    }));
    return parser.run({ accountId }, 'diagnoseSignature', body, { header: signature, secrets, apiKey });
  }

  return {
    note(request, { code, errors }, order) {
      const { authenticated, route, requestId } = contextOf(request);
      const channel = CHANNELS[route];
      if (!authenticated || !channel || !isRejection(code)) return;
      const { accountId, keyId } = authenticated;
      const granted = unsettled < MAX_WAITING ? budget.take(accountId) : budget.miss(accountId);
      if (!granted) {
        missed.schedule();
        return unrecorded.inc();
      }
      // A copy, as the batch that the order is a stretch of is not to be kept for it.
      const body: Buffer | undefined = order ? Buffer.from(order) : request.body;
      const isBatch = route === BATCH_PATH && !order;
      if (unsettled === 0) settled = Promise.withResolvers();
      unsettled += 1;
      add({
        code,
        rejection: {
          accountId,
          keyId,
          channel,
          code,
          requestId,
          diagnosis: isBatch ? WHOLE_BATCH : diagnoseHeaders(code, request),
          bodyBytes: body?.length ?? announcedLength(request),
          errors:
            errors?.slice(0, MAX_ERRORS).map((error) => ({
              pointer: error.pointer.slice(0, MAX_POINTER).toWellFormed(),
              code: error.code,
            })) ?? null,
          more: granted.missed,
        },
        body: (code === 'malformed_body' || code === 'invalid_signature') && !isBatch ? body : undefined,
        isBatch,
        signature: readSignature(request) ?? '',
        apiKey: request.get('authorization')?.split(' ').at(-1) ?? '',
      });
    },
    async close() {
      if (unsettled > 0) await settled.promise;
      await missed.close();
    },
  };
}

function diagnoseHeaders(code: RejectionCode, request: Request): Diagnosis | null {
  if (code === 'unsupported_media_type') return diagnoseMediaType(request.get('content-type'));
  if (code === 'missing_signature' && hasAnotherSignature(request.headers)) return 'another_header';
  return null;
}

/** The length that the request says its body has, where that is not read. */
function announcedLength(request: Request): number | null {
  const length = Number(request.get('content-length') ?? Number.NaN);
  return Number.isSafeInteger(length) && length >= 0 && length < 2 ** 31 ? length : null;
}
