import { LIMITS } from './limits.ts';
import { readText } from './text.ts';
import type { WarningList } from './warnings.ts';

/** Reads an e-mail address as sent, but for blanks around it; one that cannot be one leaves a warning. */
export function readEmail(value: unknown, pointer: string, warnings: WarningList): string | null {
  const text = readText(value, pointer, LIMITS.email, warnings);
  if (text !== null && !isPlausible(text)) warnings.add(pointer, 'email_implausible');
  return text;
}

/** Something, one @, a domain with a point inside, no blanks. */
function isPlausible(text: string): boolean {
  const [local, domain, ...rest] = text.split('@');
  return Boolean(local && domain) && rest.length === 0 && !/\s/.test(text) && /^[^.].*\.[^.]+$/.test(domain ?? '');
}
