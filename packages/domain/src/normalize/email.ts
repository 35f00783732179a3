import { LIMITS } from './limits.ts';
import { readText } from './text.ts';
import type { WarningList } from './warnings.ts';

/** Reads an e-mail address, trimmed; an implausible one leaves a warning. */
export function readEmail(value: unknown, pointer: string, warnings: WarningList): string | null {
  const text = readText(value, pointer, LIMITS.email, warnings);
  if (text !== null && !isPlausible(text)) warnings.add(pointer, 'email_implausible');
  return text;
}

/** A local part, one @, a domain with a dot inside, no white space. */
function isPlausible(text: string): boolean {
  const [local, domain, ...rest] = text.split('@');
  return Boolean(local && domain) && rest.length === 0 && !/\s/.test(text) && /^[^.].*\.[^.]+$/.test(domain ?? '');
}
