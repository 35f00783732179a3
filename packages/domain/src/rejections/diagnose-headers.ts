import type { IncomingHttpHeaders } from 'node:http';
import type { Diagnosis } from '../rejections.ts';

/** Which kind of media type was sent instead of JSON in UTF-8; null for any that says nothing of a cause. */
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

/** Whether a signature came under another name than the contract's, as other services call theirs. */
export function hasAnotherSignature(headers: IncomingHttpHeaders): boolean {
  return Object.keys(headers).some((name) => /signature|hmac/.test(name));
}
