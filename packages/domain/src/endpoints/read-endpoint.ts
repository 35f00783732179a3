import { randomBytes } from 'node:crypto';
import { EVENT_TYPES, type EventType } from '../events.ts';

const MAX_URL = 2000;
/** Below are the well-known ports of other protocols. */
const FIRST_FREE_PORT = 1024;
const HTTPS_PORT = 443;

/** Why the URL of an endpoint is refused; `error` says it in English. */
export interface RefusedUrl {
  code: 'malformed' | 'credentials' | 'fragment' | 'scheme' | 'port' | 'host';
  error: string;
}

/**
 * Reads the URL of an endpoint: https, a public host name or address, port 443 or above 1023, without user, password and fragment.
 * Addresses behind a name are checked when connecting, not here.
 *
 * @param allowedHosts hosts for which http and private addresses are allowed, as `CALLBACK_ALLOW` lists them.
 * @returns the normalized URL, or what is wrong with it.
 */
export function readEndpointUrl(text: string, allowedHosts: readonly string[]): { url: string } | RefusedUrl {
  const url = URL.parse(text);
  if (!url || text.length > MAX_URL)
    return { code: 'malformed', error: `must be a URL of at most ${MAX_URL} characters` };
  if (url.username || url.password) return { code: 'credentials', error: 'must not contain a user or a password' };
  if (url.hash) return { code: 'fragment', error: 'must not contain a fragment' };
  if (isAllowedHost(url, allowedHosts)) {
    return /^https?:$/.test(url.protocol)
      ? { url: url.href }
      : { code: 'scheme', error: 'must begin with https:// or http://' };
  }
  if (url.protocol !== 'https:') return { code: 'scheme', error: 'must begin with https://' };
  const port = url.port === '' ? HTTPS_PORT : Number(url.port);
  if (port !== HTTPS_PORT && port < FIRST_FREE_PORT)
    return { code: 'port', error: 'must have port 443 or one above 1023' };
  if (!/[.:]/.test(url.hostname.replace(/\.$/, ''))) return { code: 'host', error: 'must name a public host' };
  return { url: url.href };
}

/** Whether the operator allows http and private addresses for this URL. An entry without a port is for the default port of the scheme. */
export function isAllowedHost(url: URL, allowedHosts: readonly string[]): boolean {
  return allowedHosts.includes(url.host) || allowedHosts.includes(`${url.hostname}:*`);
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
