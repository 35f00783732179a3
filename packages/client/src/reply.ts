import { OrdersError, problemError } from './errors.ts';
import type { Problem } from './types.ts';

/**
 * Reads a reply whole, so that its connection is free again, and makes of it what it means.
 *
 * @param member that the JSON object of a success has: a 200 of anybody else, such as a portal to sign in at, is none.
 * @param requestId that was sent, for a reply that names none.
 * @throws {ProblemError} for a refusal; {OrdersError} `unexpected_reply` for a redirect and for what is no reply of the service.
 */
export async function readReply(response: Response, member: string, requestId: string): Promise<object> {
  const text = await response.text();
  const { status, headers } = response;
  const type = headers.get('content-type') ?? 'without a type';
  const id = headers.get('x-request-id') ?? requestId;
  const body = parseObject(text);
  if (response.ok) {
    if (body && member in body) return body;
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
  const problem = body && isProblem(body) ? body : problemOfStranger(status, type, id);
  throw problemError(status, { ...problem, request_id: id }, readRetryAfter(headers));
}

function parseObject(text: string): object | null {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null ? value : null;
  } catch {
    return null;
  }
}

function isProblem(body: object): body is Problem {
  const { code, detail } = body as Partial<Problem>;
  return typeof code === 'string' && typeof detail === 'string';
}

/** In place of a reply that was not made by the service. Of its body nothing is repeated: it may quote the request. */
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
  if (/^\d{1,9}$/.test(value)) return Number(value);
  const seconds = (Date.parse(value) - (Date.parse(headers.get('date') ?? '') || Date.now())) / 1000;
  return Number.isNaN(seconds) ? undefined : Math.max(0, seconds);
}
