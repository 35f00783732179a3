import { OrdersError, problemError } from './errors.ts';
import { isObject, type ReadSuccess } from './successes.ts';
import type { FieldError, Problem } from './types.ts';

/** Above any reply of the service. The largest one, of a batch, contains at most the 8 MiB that were sent. */
const MAX_REPLY_BYTES = 16 * 2 ** 20;
/** `Retry-After` may be any number or date. */
const MAX_PAUSE_SECONDS = 86_400;

interface SentRequest<Reply> {
  baseUrl: string;
  path: string;
  readSuccess: ReadSuccess<Reply>;
  requestId: string;
}

const requestIds = new WeakMap<object, string>();

/** The id of the request in the service's log, of what a call has returned; undefined for anything else. */
export function requestIdOf(reply: object): string | undefined {
  return requestIds.get(reply);
}

/** Reads the whole body, so that its connection can be reused. A body above the limit is canceled and returned as ''. */
export async function readText({ body }: Response): Promise<string> {
  const decoder = new TextDecoder();
  const parts: string[] = [];
  let bytes = 0;
  for await (const chunk of body ?? []) {
    bytes += chunk.byteLength;
    if (bytes > MAX_REPLY_BYTES) return '';
    parts.push(decoder.decode(chunk, { stream: true }));
  }
  return parts.join('') + decoder.decode();
}

/**
 * Interprets a reply.
 *
 * @param text its body.
 * @param request its `requestId` is for a reply without one; its address is named when nothing is there.
 * @throws {ProblemError} for an error status; {OrdersError} `unexpected_reply` for a redirect and for a reply that is not
 *   from the service; the errors of `readSuccess`.
 */
export function readReply<Reply>(
  response: Response,
  text: string,
  { baseUrl, path, readSuccess, requestId }: SentRequest<Reply>,
): Reply {
  const { status, headers } = response;
  const type = headers.get('content-type') ?? 'without a type';
  const id = headers.get('x-request-id') ?? requestId;
  const body = parseObject(text);
  if (response.ok) {
    const reply = body && readSuccess(body, id);
    if (reply) {
      if (isObject(reply)) requestIds.set(reply, id);
      return reply;
    }
    throw new OrdersError(`The reply (${status}, ${type}) is not from the service; check baseUrl.`, {
      code: 'unexpected_reply',
      requestId: id,
    });
  }
  if (response.type === 'opaqueredirect' || (status >= 300 && status < 400)) {
    throw new OrdersError(
      `The address redirects${targetOf(response)}; redirects are not followed, to protect the key.`,
      {
        code: 'unexpected_reply',
        requestId: id,
      },
    );
  }
  const problem = (body && readProblem(body)) ?? substituteProblem(status, type, id);
  throw problemError(
    { ...problem, request_id: id },
    { status, retryAfterSeconds: readRetryAfter(headers), hint: adviceFor(status, problem.code, baseUrl, path) },
  );
}

/** A 404 is either about a receipt or about an address at which there is nothing. */
function adviceFor(status: number, code: string, baseUrl: string, path: string): string | undefined {
  if (status !== 404 || !['not_found', 'unexpected_reply'].includes(code)) return undefined;
  return `The request went to ${new URL(baseUrl + path).pathname}; check baseUrl, to which the client appends the route.`;
}

function parseObject(text: string): Record<string, unknown> | null {
  try {
    const value: unknown = JSON.parse(text);
    return isObject(value) ? value : null;
  } catch {
    return null;
  }
}

/** An invalid list of errors is dropped; the problem stays. */
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
function substituteProblem(status: number, type: string, requestId: string): Problem {
  return {
    type: 'about:blank',
    title: 'Unexpected reply',
    status,
    detail: `A proxy or another server replied with ${status} (${type}).`,
    code: 'unexpected_reply',
    request_id: requestId,
  };
}

/** Only the host, because a path may contain sent data. */
function targetOf({ headers, url }: Response): string {
  try {
    return ` to ${new URL(headers.get('location') ?? '', url).origin}`;
  } catch {
    return '';
  }
}

/** `Retry-After` in seconds (RFC 9110, section 10.2.3), a day at most. A date is relative to the date of the reply, not to the local clock. */
function readRetryAfter(headers: Headers): number | undefined {
  const value = headers.get('retry-after')?.trim() ?? '';
  if (/^\d+$/.test(value)) return Math.min(Number(value), MAX_PAUSE_SECONDS);
  const seconds = (Date.parse(value) - (Date.parse(headers.get('date') ?? '') || Date.now())) / 1000;
  return Number.isNaN(seconds) ? undefined : Math.min(Math.max(0, seconds), MAX_PAUSE_SECONDS);
}
