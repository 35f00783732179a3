import type { IncomingMessage } from 'node:http';

const MAX_WAIT_SECONDS = 30;

/** The supported preferences of a client (RFC 7240). */
export interface Preferences {
  /** Whole seconds, capped at 30; null if the client does not want to wait. */
  wait: number | null;
  handling: 'lenient' | 'strict' | null;
}

/** Reads the `Prefer` header: the first of a repeated preference counts, unknown ones are ignored. */
export function readPreferences({ headers }: Pick<IncomingMessage, 'headers'>): Preferences {
  const preferences: Preferences = { wait: null, handling: null };
  for (const preference of String(headers.prefer ?? '').split(',')) {
    const [, name, value] = /^\s*(\w+)\s*=\s*"?(\w+)"?\s*(?:;.*)?$/.exec(preference) ?? [];
    if (name?.toLowerCase() === 'wait' && /^\d{1,9}$/.test(value ?? '')) {
      preferences.wait ??= Math.min(Number(value), MAX_WAIT_SECONDS);
    }
    if (name?.toLowerCase() === 'handling' && (value === 'lenient' || value === 'strict'))
      preferences.handling ??= value;
  }
  return preferences;
}
