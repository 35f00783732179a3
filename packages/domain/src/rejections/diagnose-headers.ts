import type { IncomingHttpHeaders } from 'node:http';
import type { Diagnosis } from '../rejections.ts';
import { isSignature } from './signed-timestamps.ts';

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
