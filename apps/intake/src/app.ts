import type { RequestListener } from 'node:http';
import type { Database } from '@orders/database';
import { type Channel, Problem } from '@orders/domain';
import type { Bell, RedisClient } from '@orders/queue';
import { type Logger, secretsKeysOf, type Tracing } from '@orders/runtime';
import express, { type RequestHandler } from 'express';
import { acceptOrder } from './accept-order.ts';
import { authenticate } from './authenticate.ts';
import { acceptBatch } from './batch/accept-batch.ts';
import { BATCH_PATH } from './batch/batch-path.ts';
import { beginRequest } from './begin-request.ts';
import type { IntakeConfig } from './config.ts';
import { contextOf } from './context.ts';
import { docsPage } from './docs-page.ts';
import { createRateLimits } from './limit-rate.ts';
import type { IntakeMetrics } from './metrics.ts';
import { openApiDocument } from './openapi/document.ts';
import { previewOrder } from './preview-order.ts';
import { readBody, requireJson, requireJsonOrLines } from './read-body.ts';
import type { ReceiptReader } from './receipt-reader.ts';
import type { ReceiptWaiters } from './receipt-waiters.ts';
import { createReceiptWriter } from './receipt-writer.ts';
import { RECONCILE_PATH, reconcile } from './reconcile.ts';
import type { RejectionLog } from './rejections/rejection-log.ts';
import { sendProblems } from './send-problem.ts';
import { showStatus } from './show-status.ts';
import { verifySignature } from './verify-signature.ts';

interface AppDeps {
  config: IntakeConfig;
  logger: Logger;
  metrics: IntakeMetrics;
  database: Database;
  reader: ReceiptReader;
  bell: Bell;
  /** Counts the requests of limited accounts for all intakes together; null where there is no Redis. */
  redis: RedisClient | null;
  waiters: ReceiptWaiters;
  rejections: RejectionLog;
  tracing: Tracing | null;
}

/** The HTTP door. The order of the steps is the order in which the contract (section 5) checks, and the first that fails answers. */
export function createApp(deps: AppDeps): RequestListener {
  const { config, logger, metrics, database, reader, bell, waiters } = deps;
  const { BASE_PATH: basePath } = config;
  const { requests, requestSeconds } = metrics;
  const writer = createReceiptWriter({ database, bell, graceMs: config.SWEEP_AFTER, metrics });
  const authenticated = authenticate(database);
  const rateLimits = createRateLimits(config.RATE_LIMIT, deps.redis);
  const identify = [authenticated, rateLimits.limit];
  const maxBytes = config.MAX_BODY_BYTES;
  const body = readBody(maxBytes);
  const accept = (channel: Channel) => acceptOrder(channel, { reader, writer, waiters, metrics, logger, basePath });

  const app = express();
  app.disable('x-powered-by').disable('etag').enable('strict routing').enable('case sensitive routing');
  app.use(beginRequest({ logger, requests, seconds: requestSeconds, tracing: deps.tracing }));

  const route = (path: string, methods: { get?: RequestHandler[]; post?: RequestHandler[] }) => {
    const label: RequestHandler = (request, _response, next) => {
      contextOf(request).route = path;
      next();
    };
    const at = app.route(basePath + path).all(label);
    if (methods.get) at.get(...methods.get);
    if (methods.post) at.post(...methods.post);
    const allow = [...(methods.get ? ['GET', 'HEAD'] : []), ...(methods.post ? ['POST'] : [])].join(', ');
    at.all(() => {
      throw new Problem('method_not_allowed', { headers: { Allow: allow } });
    });
  };

  route('/ingest/orders', { post: [...identify, requireJson, body, accept('rest')] });
  route(BATCH_PATH, {
    post: [
      ...identify,
      requireJsonOrLines,
      readBody(config.MAX_BATCH_BYTES),
      acceptBatch({ writer, rateLimits, rejections: deps.rejections, metrics, logger, maxBytes }),
    ],
  });
  route('/ingest/webhook', {
    post: [...identify, requireJson, body, verifySignature(database, secretsKeysOf(config)), accept('webhook')],
  });
  route('/ingest/preview', { post: [...identify, requireJson, body, previewOrder(database)] });
  route(RECONCILE_PATH, { post: [...identify, requireJson, readBody(config.MAX_BATCH_BYTES), reconcile(database)] });
  route('/ingest/status/:receiptId', { get: [authenticated, showStatus(reader, waiters)] });
  route('/openapi.json', { get: [serve(openApiDocument(basePath))] });
  app.use(docsPage(basePath));

  app.use(() => {
    throw new Problem('not_found');
  });
  app.use(sendProblems({ logger, rejections: deps.rejections, basePath }));
  return app;
}

function serve(document: object): RequestHandler {
  return (_request, response) => {
    response.json(document);
  };
}
