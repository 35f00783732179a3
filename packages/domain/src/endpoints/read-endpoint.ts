import { randomBytes } from 'node:crypto';
import { EVENT_TYPES, type EventType } from '../events.ts';

const MAX_URL = 2000;
/** Below are the well-known ports of other protocols. */
const FIRST_FREE_PORT = 1024;
const HTTPS_PORT = 443;

/**
 * Reads the URL of an endpoint: https, a public host name or address, port 443 or above 1023, without user, password and fragment.
 * Addresses behind a name are checked when connecting, not here.
 *
 * @param allowedHosts hosts, with or without port, for which http and private addresses are allowed.
 * @returns the normalized URL, or what is wrong with it.
 */
export function readEndpointUrl(text: string, allowedHosts: readonly string[]): { url: string } | { error: string } {
  const url = URL.parse(text);
  if (!url || text.length > MAX_URL) return { error: `must be a URL of at most ${MAX_URL} characters` };
  if (url.username || url.password) return { error: 'must not contain a user or a password' };
  if (url.hash) return { error: 'must not contain a fragment' };
  if (isAllowedHost(url, allowedHosts)) {
    return /^https?:$/.test(url.protocol) ? { url: url.href } : { error: 'must begin with https:// or http://' };
  }
  if (url.protocol !== 'https:') return { error: 'must begin with https://' };
  const port = url.port === '' ? HTTPS_PORT : Number(url.port);
  if (port !== HTTPS_PORT && port < FIRST_FREE_PORT) return { error: 'must have port 443 or one above 1023' };
  if (!/[.:]/.test(url.hostname.replace(/\.$/, ''))) return { error: 'must name a public host' };
  return { url: url.href };
}

/** Whether the operator allows http and private addresses for this URL. */
export function isAllowedHost(url: URL, allowedHosts: readonly string[]): boolean {
  return allowedHosts.includes(url.hostname) || allowedHosts.includes(url.host);
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
