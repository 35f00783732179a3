import Bowser from 'bowser';

/** Bowser takes an unknown name from the user agent, which its sender chose: it would put any words into our mails and pages. */
const KNOWN = new Set([...Object.values(Bowser.BROWSER_MAP), ...Object.values(Bowser.OS_MAP)]);

/** The browser and, if known, the system of a user agent; null for one that is no known browser. */
export function parseDevice(userAgent: string): { browser: string; system: string | null } | null {
  // Bowser throws for an empty string.
  if (userAgent === '') return null;
  const { browser, os } = Bowser.parse(userAgent);
  if (!browser.name || !KNOWN.has(browser.name)) return null;
  const version = /^\d{1,4}/.exec(browser.version ?? '')?.[0];
  return {
    browser: [browser.name, version].filter(Boolean).join(' '),
    system: os.name !== undefined && KNOWN.has(os.name) ? os.name : null,
  };
}
