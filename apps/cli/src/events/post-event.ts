import http from 'node:http';
import https from 'node:https';
import { setTimeout as sleep } from 'node:timers/promises';
import { type OrdersEvent, signEvent } from '@orders/client';
import { VERSION } from '@orders/runtime/version.ts';

/** A program that gets events as an endpoint does. */
export interface Program {
  url: string;
  /** `whsec_` and base64. */
  secret: string;
}

/** The outcome of posting an event. */
export interface Posted {
  /** Null without a response. */
  status: number | null;
  /** Why there is none; null if there is one. */
  error: string | null;
  ms: number;
}

/** As for an endpoint. */
const TIMEOUT_MS = 15_000;
/** How long the body of a response may take; its status is known. */
const MAX_BODY_MS = 1000;

/**
 * Posts an event once, signed and with the headers of a delivery to an endpoint.
 *
 * @throws the signal's reason after an abort.
 */
export async function postEvent(event: OrdersEvent, program: Program, signal: AbortSignal): Promise<Posted> {
  const body = JSON.stringify(event);
  const startedAt = performance.now();
  const headers = await signEvent(body, program.secret, { id: event.id });
  const posted = await post(program.url, headers, body, signal).then(
    (status) => ({ status, error: null }),
    (error: Error & { code?: string }) => ({
      status: null,
      error: error.name === 'TimeoutError' ? 'timeout' : (error.code ?? error.name),
    }),
  );
  signal.throwIfAborted();
  return { ...posted, ms: Math.round(performance.now() - startedAt) };
}

/** A connection each: one that is kept would be closed by a program that restarts. */
async function post(url: string, headers: Record<string, string>, body: string, signal: AbortSignal): Promise<number> {
  const request = (url.startsWith('https:') ? https : http).request(url, {
    agent: false,
    method: 'POST',
    signal: AbortSignal.any([signal, AbortSignal.timeout(TIMEOUT_MS)]),
    headers: {
      'Content-Type': 'application/json',
      'Content-Length': Buffer.byteLength(body),
      'User-Agent': `order-ingestion/${VERSION}`,
      ...headers,
    },
  });
  const response = await new Promise<http.IncomingMessage>((resolve, reject) => {
    // Node wraps the reason of an abort.
    request
      .once('response', resolve)
      .on('error', (error) => reject(error.cause ?? error))
      .end(body);
  });
  response.on('error', () => {}).resume();
  const ended = new Promise((closed) => response.once('close', closed));
  await Promise.race([ended, sleep(MAX_BODY_MS, undefined, { ref: false })]);
  request.destroy();
  return response.statusCode ?? 0;
}
