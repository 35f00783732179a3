import type { IncomingMessage } from 'node:http';

const LONGEST_WAIT_SECONDS = 30;

/** What a client prefers (RFC 7240), as far as this service heeds it. */
export interface Preferences {
  /** Whole seconds, capped at 30; null when the client does not want to wait. */
  wait: number | null;
  handling: 'lenient' | 'strict' | null;
}

/** Reads the `Prefer` header; of a repeated preference the first counts, and what is not understood is ignored. */
export function readPreferences({ headers }: Pick<IncomingMessage, 'headers'>): Preferences {
  const preferences: Preferences = { wait: null, handling: null };
  for (const preference of String(headers.prefer ?? '').split(',')) {
    const [, name, value] = /^\s*(\w+)\s*=\s*"?(\w+)"?\s*(?:;.*)?$/.exec(preference) ?? [];
    if (name?.toLowerCase() === 'wait' && /^\d{1,9}$/.test(value ?? '')) {
      preferences.wait ??= Math.min(Number(value), LONGEST_WAIT_SECONDS);
    }
    if (name?.toLowerCase() === 'handling' && (value === 'lenient' || value === 'strict'))
      preferences.handling ??= value;
  }
  return preferences;
}
