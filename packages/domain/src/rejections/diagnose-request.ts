import { isUtf8 } from 'node:buffer';
import type { IncomingHttpHeaders } from 'node:http';
import type { Diagnosis } from '../rejections.ts';
import { isSignature } from './diagnose-signature.ts';

/** Diagnoses a rejection by the headers of its request; null if they do not show the cause. */
export function diagnoseHeaders(code: string, headers: IncomingHttpHeaders): Diagnosis | null {
  if (code === 'unsupported_media_type') return diagnoseMediaType(headers['content-type']);
  return code === 'missing_signature' && hasOtherSignatureHeader(headers) ? 'another_header' : null;
}

/** Diagnoses a media type other than JSON in UTF-8; null if the cause is unknown. */
export function diagnoseMediaType(header: string | undefined): Diagnosis<'unsupported_media_type'> | null {
  const [type = ''] = (header ?? '').toLowerCase().split(';');
  const media = type.trim();
  if (media === '') return 'no_media_type';
  if (media === 'application/x-www-form-urlencoded' || media === 'multipart/form-data') return 'form_encoded';
  if (media === 'text/plain') return 'plain_text';
  if (media === 'application/json') return 'another_charset';
  if (media === 'text/json' || media === 'application/x-json' || media.endsWith('+json')) return 'another_json_type';
  return null;
}

/** Whether a signature was sent in another header, as other services name theirs. */
export function hasOtherSignatureHeader(headers: IncomingHttpHeaders): boolean {
  return Object.keys(headers).some(isSignature);
}

/** Longer bodies are not diagnosed. */
const MAX_BYTES = 65_536;

/**
 * Diagnoses why a body is not one JSON object; null if the cause is unknown.
 *
 * @param body undefined if it ended before its announced length.
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
  // The simplest change that makes it valid JSON most likely shows the mistake.
  if (isObject(parsed(text.replace(/,(\s*[}\]])/g, '$1')))) return 'trailing_comma';
  if (/^\{\s*(\}|')/.test(text) && isObject(parsed(text.replaceAll("'", '"')))) return 'single_quotes';
  return isObject(parsed(`${text}}`)) || isObject(parsed(`${text}"}`)) || isObject(parsed(`${text}]}`))
    ? 'cut_short'
    : null;
}

/** The parsed JSON, or undefined if it is invalid. */
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
