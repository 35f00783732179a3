import { OrdersError, problemError } from './errors.ts';
import { isObject, type ReadSuccess } from './successes.ts';
import type { FieldError, Problem } from './types.ts';

/** Longer than any reply of the service: the largest, of a batch, contains at most the 8 MiB that were sent. */
const LONGEST_BYTES = 16 * 2 ** 20;

/** Reads the whole body, so that its connection is free again. A body above the limit is abandoned and returned as an empty string. */
export async function readText({ body }: Response): Promise<string> {
  const decoder = new TextDecoder();
  const parts: string[] = [];
  let bytes = 0;
  for await (const chunk of body ?? []) {
    bytes += chunk.byteLength;
    if (bytes > LONGEST_BYTES) return '';
    parts.push(decoder.decode(chunk, { stream: true }));
  }
  return parts.join('') + decoder.decode();
}

/**
 * Interprets a reply.
 *
 * @param text its body.
 * @param requestId that was sent, for a reply that names none.
 * @throws {ProblemError} for a refusal; {OrdersError} `unexpected_reply` for a redirect and for what is no reply of the
 *   service; what `readSuccess` throws.
 */
export function readReply<Reply>(
  response: Response,
  text: string,
  readSuccess: ReadSuccess<Reply>,
  requestId: string,
): Reply {
  const { status, headers } = response;
  const type = headers.get('content-type') ?? 'without a type';
  const id = headers.get('x-request-id') ?? requestId;
  const body = parseObject(text);
  if (response.ok) {
    const reply = body && readSuccess(body, id);
    if (reply) return reply;
    throw new OrdersError(`The reply (${status}, ${type}) is none of the service; see where baseUrl leads.`, {
      code: 'unexpected_reply',
      requestId: id,
    });
  }
  if (response.type === 'opaqueredirect' || (status >= 300 && status < 400)) {
    throw new OrdersError(`The service is elsewhere${targetOf(response)}: redirects are not followed with a key.`, {
      code: 'unexpected_reply',
      requestId: id,
    });
  }
  const problem = (body && readProblem(body)) ?? problemOfStranger(status, type, id);
  throw problemError(status, { ...problem, request_id: id }, readRetryAfter(headers));
}

function parseObject(text: string): Record<string, unknown> | null {
  try {
    const value: unknown = JSON.parse(text);
    return isObject(value) ? value : null;
  } catch {
    return null;
  }
}

/** A list of errors that is none costs the refusal no more than its list. */
function readProblem(body: Record<string, unknown>): Problem | null {
  const { code, detail, errors, ...rest } = body;
  if (typeof code !== 'string' || typeof detail !== 'string') return null;
  const listed = Array.isArray(errors) && { errors: errors.filter(isFieldError) };
  return { ...rest, code, detail, ...listed } as Problem;
}

function isFieldError(error: unknown): error is FieldError {
  return isObject(error) && [error.pointer, error.code, error.detail].every((member) => typeof member === 'string');
}

/** A problem for a reply that is not from the service. It quotes nothing of the body, which may contain the request. */
function problemOfStranger(status: number, type: string, requestId: string): Problem {
  return {
    type: 'about:blank',
    title: 'Unexpected reply',
    status,
    detail: `Something before the service answered with ${status} (${type}).`,
    code: 'unexpected_reply',
    request_id: requestId,
  };
}

/** The host alone: a path may hold what was sent. */
function targetOf({ headers, url }: Response): string {
  try {
    return `, at ${new URL(headers.get('location') ?? '', url).origin}`;
  } catch {
    return '';
  }
}

/** `Retry-After` in seconds (RFC 9110, section 10.2.3); a date counts from that of the reply, whatever the clock here says. */
function readRetryAfter(headers: Headers): number | undefined {
  const value = headers.get('retry-after')?.trim() ?? '';
  if (/^\d+$/.test(value)) return Math.min(Number(value), Number.MAX_SAFE_INTEGER);
  const seconds = (Date.parse(value) - (Date.parse(headers.get('date') ?? '') || Date.now())) / 1000;
  return Number.isNaN(seconds) ? undefined : Math.max(0, seconds);
}
