import { randomBytes } from 'node:crypto';
import { EVENT_TYPES, type EventType } from './events.ts';

/** Why an attempt to deliver an event failed. Codes are stable; no text repeats what an endpoint replied. */
export const DELIVERY_ERRORS = {
  refused_status: 'The endpoint replied with a status other than 2xx.',
  redirect: 'The endpoint replied with a redirect. Redirects are not followed: register the final URL.',
  gone: 'The endpoint replied 410. It is disabled.',
  timeout: 'The endpoint did not reply within 15 seconds.',
  address_refused:
    'This service does not call the address of this URL. It must be https, with a host name whose addresses are public. If it is, ask the operator.',
  host_not_found: 'The host name of the URL was not found, or has an address that is not public.',
  tls_failed: 'The TLS connection failed; the certificate may be wrong or expired.',
  connection_failed: 'The connection failed or was closed before a reply.',
  proxy_failed: 'The proxy of this service did not connect to the host. If that goes on, tell the operator.',
  invalid_response: 'The reply was not valid HTTP.',
} as const;

export type DeliveryError = keyof typeof DELIVERY_ERRORS;

const [SECOND, MINUTE, HOUR] = [1000, 60_000, 3_600_000];

/** Delays after the first, second, … failed attempt, in milliseconds, as https://www.standardwebhooks.com recommends them. */
const RETRY_DELAYS_MS = [
  5 * SECOND,
  5 * MINUTE,
  30 * MINUTE,
  2 * HOUR,
  5 * HOUR,
  10 * HOUR,
  14 * HOUR,
  20 * HOUR,
  24 * HOUR,
] as const;

/** Share of a delay by which it varies, so that deliveries that failed together are not retried together. */
const JITTER = 0.1;

/**
 * The delay after a failed attempt, in milliseconds: that of the schedule, varied by a tenth. After the ninth failure it is always the last
 * one.
 *
 * @param attempts that have failed, at least 1.
 * @param random from 0 to 1.
 */
export function retryDelay(attempts: number, random: number): number {
  const delay = RETRY_DELAYS_MS[Math.min(attempts, RETRY_DELAYS_MS.length) - 1] as number;
  return Math.round(delay * (1 - JITTER + 2 * JITTER * random));
}

const MAX_URL = 2000;
/** Lower ports belong to other protocols. */
const MIN_UNPRIVILEGED_PORT = 1024;
const HTTP_PORT = 80;
const HTTPS_PORT = 443;

/** Why the URL of an endpoint is rejected; `error` says it in English. */
export interface RejectedUrl {
  code: 'malformed' | 'credentials' | 'fragment' | 'scheme' | 'port' | 'host';
  error: string;
}

/**
 * Reads the URL of an endpoint: https, a public host name or address, port 443 or above 1023, without user, password and fragment.
 * Addresses behind a name are checked when connecting, not here.
 *
 * @param exemptHosts hosts that may use http and private addresses, as `CALLBACK_ALLOW` lists them.
 * @returns the normalized URL, or what is wrong with it.
 */
export function readEndpointUrl(text: string, exemptHosts: readonly string[]): { url: string } | RejectedUrl {
  const url = URL.canParse(text) ? new URL(text) : null;
  if (!url || text.length > MAX_URL)
    return { code: 'malformed', error: `must be a URL of at most ${MAX_URL} characters` };
  if (url.username || url.password) return { code: 'credentials', error: 'must not contain a user or a password' };
  if (url.hash) return { code: 'fragment', error: 'must not contain a fragment' };
  if (isExemptHost(url, exemptHosts)) {
    return /^https?:$/.test(url.protocol)
      ? { url: url.href }
      : { code: 'scheme', error: 'must begin with https:// or http://' };
  }
  if (url.protocol !== 'https:') return { code: 'scheme', error: 'must begin with https://' };
  const port = url.port === '' ? HTTPS_PORT : Number(url.port);
  if (port !== HTTPS_PORT && port < MIN_UNPRIVILEGED_PORT)
    return { code: 'port', error: 'must have port 443 or one above 1023' };
  if (!/[.:]/.test(url.hostname.replace(/\.$/, ''))) return { code: 'host', error: 'must name a public host' };
  return { url: url.href };
}

/**
 * Whether this URL may use http and private addresses.
 *
 * @param exemptHosts as `host:port`, `host:*`, or `host` for port 80 or 443.
 */
export function isExemptHost({ protocol, hostname, port }: URL, exemptHosts: readonly string[]): boolean {
  const defaultPort = protocol === 'https:' ? HTTPS_PORT : HTTP_PORT;
  if (port === '' && exemptHosts.includes(hostname)) return true;
  return exemptHosts.includes(`${hostname}:${port || defaultPort}`) || exemptHosts.includes(`${hostname}:*`);
}

/** The URL of an endpoint for the audit trail, where nothing is removed: without its query, which may contain a secret. */
export function withoutQuery(url: string): string {
  return url.replace(/\?.*/, '');
}

/** @returns the types without repetition, or those that are unknown. */
export function readEventTypes(names: readonly string[]): { types: EventType[] } | { unknown: string[] } {
  const unknown = names.filter((name) => !(EVENT_TYPES as readonly string[]).includes(name));
  return unknown.length > 0 ? { unknown } : { types: [...new Set(names as EventType[])] };
}

/** A new id of an endpoint, for people and commands. */
export function createEndpointId(): string {
  return `ep_${randomBytes(12).toString('hex')}`;
}

/** Whether a text has the form of an endpoint id. */
export function isEndpointId(text: string): boolean {
  return /^ep_[0-9a-f]{24}$/.test(text);
}
