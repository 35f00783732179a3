import type { RequestListener } from 'node:http';
import type { Database } from '@orders/database/connect.ts';
import type { FinalReceipt } from '@orders/database/receipts/find-receipt.ts';
import type { KeyScope } from '@orders/domain/api-key.ts';
import { MAX_CANCEL_BYTES } from '@orders/domain/interface-limits.ts';
import { Problem } from '@orders/domain/problems.ts';
import type { Channel } from '@orders/domain/receipt-states.ts';
import { limitResponseMemory } from '@orders/http/limit-response-memory.ts';
import type { Producer } from '@orders/queue/open-producer.ts';
import type { RedisClient } from '@orders/queue/open-redis.ts';
import { createTimeSlicer } from '@orders/runtime/concurrency/fair-sharing.ts';
import { secretsKeysOf } from '@orders/runtime/config/settings.ts';
import type { Logger } from '@orders/runtime/observability/logger.ts';
import type { Tracing } from '@orders/runtime/observability/span.ts';
import express, { type RequestHandler } from 'express';
import type { Admission } from './admission/admission.ts';
import type { IntakeConfig } from './config.ts';
import { docsPage } from './docs/docs-page.ts';
import { openApiDocument } from './docs/openapi/document.ts';
import type { IntakeMetrics } from './observability/metrics.ts';
import type { SourceActivity } from './observability/source-activity.ts';
import type { Parser } from './parsing/parser.ts';
import {
  BATCH_PATH,
  CANCEL_PATH,
  EVENTS_PATH,
  ORDERS_PATH,
  PREVIEW_PATH,
  RECONCILE_PATH,
  SOURCE_ROUTE,
  WEBHOOK_CANCEL_PATH,
  WEBHOOK_PATH,
} from './paths.ts';
import { type Authenticator, checkAccess } from './pipeline/authenticate.ts';
import type { SourceIdentifier } from './pipeline/identify-source.ts';
import { createRateLimits } from './pipeline/limit-rate.ts';
import { problemHandler } from './pipeline/problem-handler.ts';
import { readBody, requireJson, requireJsonOrLines } from './pipeline/read-body.ts';
import { requestLifecycle } from './pipeline/request-lifecycle.ts';
import { replyToPing, verifyDelivery } from './pipeline/verify-delivery.ts';
import { verifySignature } from './pipeline/verify-signature.ts';
import type { ReceiptReader } from './receipts/receipt-reader.ts';
import { createReceiptWriter } from './receipts/receipt-writer.ts';
import type { RejectionLog } from './rejections/rejection-log.ts';
import { contextOf, senderOf } from './request-context.ts';
import { getEvents } from './routes/get-events.ts';
import { getStatus } from './routes/get-status.ts';
import { postBatch } from './routes/post-batch/post-batch.ts';
import { createCanceller, postCancel } from './routes/post-cancel.ts';
import { postDelivery } from './routes/post-delivery.ts';
import { postOrder } from './routes/post-order.ts';
import { postPreview } from './routes/post-preview.ts';
import { postReconcile, RECONCILE_MAX_BYTES } from './routes/post-reconcile.ts';
import type { Waiters } from './routes/waiters.ts';

interface AppDeps {
  config: IntakeConfig;
  logger: Logger;
  metrics: IntakeMetrics;
  database: Database;
  admission: Admission;
  authenticator: Authenticator;
  sources: SourceIdentifier;
  activity: SourceActivity;
  parser: Parser;
  reader: ReceiptReader;
  producer: Producer;
  /** Shared request counters of rate-limited accounts; null without Redis. */
  redis: RedisClient | null;
  receiptWaiters: Waiters<FinalReceipt>;
  eventWaiters: Waiters<true>;
  rejections: RejectionLog;
  tracing: Tracing | null;
}

/** Max bytes of pages of events that clients have not read yet, over all accounts. A page takes about 1 MiB. */
const MAX_UNSENT_BYTES = 33_554_432;

/** Builds the HTTP app. Handlers run in the order of the contract's checks (section 5); the first one that fails decides the reply. */
export function createApp(deps: AppDeps): RequestListener {
  const {
    config,
    logger,
    metrics,
    database,
    admission,
    parser,
    reader,
    producer,
    receiptWaiters: waiters,
    activity,
  } = deps;
  const { BASE_PATH: basePath } = config;
  const { requests, requestSeconds } = metrics;
  const slicer = createTimeSlicer();
  const fingerprint = (accountId: number, body: Buffer) => parser.run({ accountId }, 'fingerprint', body);
  const writer = createReceiptWriter({ database, producer, graceMs: config.SWEEP_AFTER, fingerprint, slicer, metrics });
  const rateLimits = createRateLimits(config.RATE_LIMIT, deps.redis);
  const { authenticate } = deps.authenticator;
  const withKey = (scope: KeyScope, signedPath?: string) => [
    authenticate,
    checkAccess(scope, signedPath && basePath + signedPath),
    rateLimits.limit,
  ];
  const maxBytes = config.MAX_BODY_BYTES;
  const body = readBody(admission, 'order', maxBytes);
  const signed = verifySignature(database, secretsKeysOf(config));
  const cancelBody = readBody(admission, 'cancellation', MAX_CANCEL_BYTES);
  const cancel = createCanceller(database, metrics);
  const takeCancellations = postCancel({ parser, rateLimits, cancel });
  const accept = (channel: Channel) =>
    postOrder(channel, { parser, reader, writer, waiters, metrics, logger, basePath });

  const app = express();
  app.disable('x-powered-by').disable('etag').enable('strict routing').enable('case sensitive routing');
  app.set('trust proxy', config.TRUST_PROXY);
  app.use(requestLifecycle({ logger, requests, seconds: requestSeconds, tracing: deps.tracing }));

  const route = (path: string, methods: { get?: RequestHandler[]; post?: RequestHandler[] }) => {
    const label: RequestHandler = (request, _response, next) => {
      contextOf(request).route = path;
      next();
    };
    const registered = app.route(basePath + path).all(label);
    if (methods.get) registered.get(...methods.get);
    if (methods.post) registered.post(...methods.post);
    const allow = [...(methods.get ? ['GET', 'HEAD'] : []), ...(methods.post ? ['POST'] : [])].join(', ');
    registered.all(() => {
      throw new Problem('method_not_allowed', { headers: { Allow: allow } });
    });
  };

  route(ORDERS_PATH, { post: [...withKey('send', WEBHOOK_PATH), requireJson, body, accept('rest')] });
  route(BATCH_PATH, {
    post: [
      ...withKey('send', WEBHOOK_PATH),
      requireJsonOrLines,
      readBody(admission, 'batch', config.MAX_BATCH_BYTES),
      postBatch({ parser, slicer, writer, rateLimits, rejections: deps.rejections, metrics, logger, maxBytes }),
    ],
  });
  route(WEBHOOK_PATH, { post: [...withKey('send'), requireJson, body, signed, accept('webhook')] });
  route(CANCEL_PATH, {
    post: [...withKey('cancel', WEBHOOK_CANCEL_PATH), requireJson, cancelBody, takeCancellations],
  });
  route(WEBHOOK_CANCEL_PATH, {
    post: [...withKey('cancel'), requireJson, cancelBody, signed, takeCancellations],
  });
  // A platform's media type is not checked: whatever it signed is kept.
  route(SOURCE_ROUTE, {
    post: [
      deps.sources.identifySource,
      body,
      replyToPing(activity),
      verifyDelivery(secretsKeysOf(config), activity),
      // Anybody who knows the URL could otherwise use up the account's rate.
      rateLimits.limit,
      postDelivery({ database, parser, writer, cancel, activity, metrics, logger, basePath }),
    ],
  });
  route(PREVIEW_PATH, {
    post: [...withKey('send'), requireJson, body, postPreview({ database, parser, rateLimits })],
  });
  route(RECONCILE_PATH, {
    post: [
      ...withKey('read'),
      requireJson,
      readBody(admission, 'list', RECONCILE_MAX_BYTES),
      postReconcile({ database, parser, rateLimits }),
    ],
  });
  route('/ingest/status/:receiptId', {
    get: [authenticate, checkAccess('read'), rateLimits.limitStatus, getStatus(reader, waiters)],
  });
  route(EVENTS_PATH, {
    get: [
      authenticate,
      checkAccess('read'),
      rateLimits.limitStatus,
      limitResponseMemory({ maxBytes: MAX_UNSENT_BYTES, accountOf: (request) => senderOf(request).accountId }),
      getEvents(database, deps.eventWaiters),
    ],
  });
  route('/openapi.json', { get: [serve(openApiDocument(basePath))] });
  app.use(docsPage(basePath));

  app.use(() => {
    throw new Problem('not_found');
  });
  app.use(problemHandler({ logger, rejections: deps.rejections, basePath }));
  return app;
}

function serve(document: object): RequestHandler {
  return (_request, response) => {
    response.json(document);
  };
}
