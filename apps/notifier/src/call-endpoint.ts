import http from 'node:http';
import https from 'node:https';
import { isIP, type LookupFunction } from 'node:net';
import { DEFAULT_CIPHERS } from 'node:tls';
import type { DeliveryError } from '@orders/domain/endpoints.ts';
import { isExemptHost } from '@orders/domain/endpoints.ts';
import { VERSION } from '@orders/runtime/version.ts';
import { RequestFilteringHttpsAgent } from 'request-filtering-agent';
import type { NotifierConfig } from './config.ts';
import { AddressRejected, createAddressFilter } from './filter-addresses.ts';
import { createProxyAgent, ProxyFailed } from './proxy-agent.ts';

/** What an endpoint replied. Its body is discarded. */
export interface CallResult {
  /** Null without a response. */
  status: number | null;
  /** Null if it was 2xx. */
  error: DeliveryError | null;
  /** From the header `Retry-After`, in milliseconds; 0 without one, and after a success. */
  retryAfterMs: number;
}

export interface EndpointCaller {
  /** Posts a body. Never throws. */
  call(url: string, headers: Record<string, string>, body: string): Promise<CallResult>;
  close(): void;
}

/** From connecting to the status line. */
const TIMEOUT_MS = 15_000;
const MAX_RETRY_AFTER_MS = 24 * 3_600_000;
/** A connection is used again only if the response ends within these limits; otherwise it is closed. The attempt ends with either. */
const MAX_BODY_MS = 1000;
const MAX_BODY_BYTES = 65_536;
/** Max interim responses (1xx); more would let a receiver keep the event loop busy. */
const MAX_INTERIM_RESPONSES = 10;
const KEEP_ALIVE = { keepAlive: true, timeout: 20_000, scheduling: 'lifo' as const, maxFreeSockets: 64 };
/** In a finite-field key exchange the server chooses the group, and one of 10,000 bits takes half a second of the event loop. */
const TLS = { ...KEEP_ALIVE, ciphers: `${DEFAULT_CIPHERS}:!DHE` };

/**
 * Calls endpoints by https at public addresses, which are checked when connecting. Hosts in `CALLBACK_ALLOW` may be private and use http.
 * With `CALLBACK_PROXY`, the proxy connects to all other hosts, and must reject private addresses itself.
 */
export function createEndpointCaller(config: NotifierConfig): EndpointCaller {
  const { lookup, isBlocked } = createAddressFilter({ servers: config.CALLBACK_DNS, denied: config.CALLBACK_DENY });
  const filteringAgent = config.CALLBACK_PROXY
    ? createProxyAgent(new URL(config.CALLBACK_PROXY), TLS, TIMEOUT_MS)
    : new RequestFilteringHttpsAgent(TLS);
  const unfilteredAgents = { 'http:': new http.Agent(KEEP_ALIVE), 'https:': new https.Agent(TLS) };

  function connectionOptions(url: URL): { agent: http.Agent; lookup?: LookupFunction } {
    if (isExemptHost(url, config.CALLBACK_ALLOW)) {
      return { agent: url.protocol === 'http:' ? unfilteredAgents['http:'] : unfilteredAgents['https:'] };
    }
    // An endpoint may have been allowed when it was created.
    if (url.protocol !== 'https:') throw new AddressRejected('not https');
    const host = hostOf(url);
    if (isBlocked(host)) throw new AddressRejected('blocked address');
    if (config.CALLBACK_PROXY && isIP(host) !== 0)
      throw new AddressRejected('an IP address cannot be called through the proxy');
    return { agent: filteringAgent, lookup };
  }

  return {
    async call(endpointUrl, headers, body) {
      try {
        const url = new URL(endpointUrl);
        const { status, retryAfter } = await post(url, connectionOptions(url), headers, body);
        const error = errorOfStatus(status);
        return { status, error, retryAfterMs: error === null ? 0 : parseRetryAfter(retryAfter, Date.now()) };
      } catch (error) {
        return { status: null, error: errorOf(error, endpointUrl), retryAfterMs: 0 };
      }
    },
    close() {
      for (const agent of [filteringAgent, ...Object.values(unfilteredAgents)]) agent.destroy();
    },
  };
}

function post(
  url: URL,
  connection: { agent: http.Agent; lookup?: LookupFunction },
  headers: Record<string, string>,
  body: string,
): Promise<{ status: number; retryAfter: string | undefined }> {
  const { promise, resolve, reject } = Promise.withResolvers<{ status: number; retryAfter: string | undefined }>();
  const signal = AbortSignal.timeout(TIMEOUT_MS);
  const request = (url.protocol === 'http:' ? http : https).request(url, {
    ...connection,
    method: 'POST',
    signal,
    headers: {
      'Content-Type': 'application/json',
      'Content-Length': Buffer.byteLength(body),
      'User-Agent': `order-ingestion/${VERSION}`,
      ...headers,
    },
  });
  let interimResponses = 0;
  request.on('information', () => {
    interimResponses += 1;
    if (interimResponses > MAX_INTERIM_RESPONSES) request.destroy(new TooManyInterimResponses());
  });
  let reply: { status: number; retryAfter: string | undefined } | undefined;
  let failure = new Error('closed');
  request.once('response', (response) => {
    reply = { status: response.statusCode ?? 0, retryAfter: response.headers['retry-after'] };
    discard(response);
  });
  request.on('error', (error) => {
    failure = error;
  });
  // Not before the body has ended or the connection is closed, so that an endpoint never has more connections than attempts of a round.
  request.once('close', () => {
    if (reply) resolve(reply);
    else reject(signal.aborted ? signal.reason : failure);
  });
  request.end(body);
  return promise;
}

class TooManyInterimResponses extends Error {
  readonly code = 'ERR_HTTP_TOO_MANY_INTERIM_RESPONSES';
}

/** Reads a short body to its end, so that the connection can be used again; ends the connection of a longer one. */
function discard(response: http.IncomingMessage): void {
  let bytes = 0;
  const timer = setTimeout(() => response.destroy(), MAX_BODY_MS);
  response
    .on('data', (chunk: Buffer) => {
      bytes += chunk.length;
      if (bytes > MAX_BODY_BYTES) response.destroy();
    })
    .on('close', () => clearTimeout(timer))
    .on('error', () => {});
}

/** The host of a URL, an IPv6 address without its brackets. */
function hostOf({ hostname }: URL): string {
  return hostname.replace(/^\[(.*)\]$/, '$1');
}

function errorOfStatus(status: number): DeliveryError | null {
  if (status >= 200 && status < 300) return null;
  if (status === 410) return 'gone';
  return status >= 300 && status < 400 ? 'redirect' : 'refused_status';
}

// ETIMEOUT is the time limit of c-ares; ETIMEDOUT below is that of a connection.
const HOST_NOT_FOUND = /^(ENOTFOUND|ENODATA|EBADNAME|ESERVFAIL|EAI_|ETIMEOUT|EREFUSED|EFORMERR)/;

/** A name that has a private address looks like one that does not exist: otherwise an endpoint could tell which internal names exist. */
function errorOf(error: unknown, endpointUrl: string): DeliveryError {
  const { code = '', name, message = '' } = error as { code?: string; name?: string; message?: string };
  if (name === 'TimeoutError' || code === 'ETIMEDOUT') return 'timeout';
  if (error instanceof ProxyFailed) return 'proxy_failed';
  if (error instanceof AddressRejected) return 'address_refused';
  if (/is not allowed/.test(message))
    return isIP(hostOf(new URL(endpointUrl))) === 0 ? 'host_not_found' : 'address_refused';
  if (HOST_NOT_FOUND.test(code)) return 'host_not_found';
  if (/^(HPE_|ERR_HTTP)/.test(code)) return 'invalid_response';
  if (/^(ERR_TLS|ERR_SSL|CERT_|DEPTH_ZERO|SELF_SIGNED|UNABLE_TO|EPROTO)/.test(code)) return 'tls_failed';
  return 'connection_failed';
}

/** Milliseconds of a `Retry-After` header, in seconds or as a date (RFC 9110), at most a day. */
function parseRetryAfter(header: string | undefined, now: number): number {
  if (header === undefined) return 0;
  const ms = /^\d{1,9}$/.test(header) ? Number(header) * 1000 : Date.parse(header) - now;
  return Number.isFinite(ms) ? Math.min(Math.max(ms, 0), MAX_RETRY_AFTER_MS) : 0;
}
