import { isUtf8 } from 'node:buffer';
import type { Diagnosis } from '../rejections.ts';

/** A longer body is not looked at for its mistakes. */
const MAX_BYTES = 65_536;

/**
 * Why a body could not be read as one JSON object, as far as its text tells; null when it does not.
 *
 * @param body undefined when it ended before its announced length.
 */
export function diagnoseBody(body: Buffer | undefined): Diagnosis<'malformed_body'> | null {
  if (!body) return 'cut_short';
  if (!isUtf8(body)) return 'not_utf8';
  if (body.length > MAX_BYTES) return null;
  const text = body
    .toString('utf8')
    .replace(/^\uFEFF/, '')
    .trim();
  if (text === '') return 'empty';
  const value = parsed(text);
  if (typeof value === 'string' && isObject(parsed(value))) return 'encoded_twice';
  if (value !== undefined) return isObject(value) ? null : 'not_an_object';
  if (/^[\w.%+[\]-]+=/.test(text)) return 'form_encoded';
  // The simplest change that makes it JSON is most likely the mistake.
  if (isObject(parsed(text.replace(/,(\s*[}\]])/g, '$1')))) return 'trailing_comma';
  if (/^\{\s*(\}|')/.test(text) && isObject(parsed(text.replaceAll("'", '"')))) return 'single_quotes';
  return isObject(parsed(`${text}}`)) || isObject(parsed(`${text}"}`)) || isObject(parsed(`${text}]}`))
    ? 'cut_short'
    : null;
}

/** The value of a JSON text; undefined when it is none. */
function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function isObject(value: unknown): boolean {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
