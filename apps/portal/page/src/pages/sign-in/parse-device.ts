import Bowser from 'bowser';

/** The browser and, if known, the system of a user agent; null for one that is no browser. */
export function parseDevice(userAgent: string): { browser: string; system: string | null } | null {
  const { browser, os } = Bowser.parse(userAgent);
  if (!browser.name) return null;
  const [version] = browser.version?.split('.') ?? [];
  return { browser: [browser.name, version].filter(Boolean).join(' '), system: os.name ?? null };
}
