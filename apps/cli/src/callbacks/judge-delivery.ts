import type { IncomingHttpHeaders } from 'node:http';
import { type OrdersEvent, VerificationError, verifyEvent } from '@orders/client';

/** Whether a delivery is authentic. */
export interface Judgement {
  verdict: Verdict;
  /** What is wrong, and what to do about it; null if nothing is. */
  detail: string | null;
  /** Null unless it is authentic. Without a secret to verify it with, only `id` and `type` are certain to exist. */
  event: OrdersEvent | null;
}

export type Verdict =
  | 'verified'
  | 'unverified'
  | 'missing_header'
  | 'clock_difference'
  | 'malformed_header'
  | 'body_changed'
  | 'wrong_secret'
  | 'not_an_event';

const ADVICE: Partial<Record<Verdict, string>> = {
  missing_header: 'Deliveries have webhook-id, webhook-timestamp and webhook-signature; a proxy may have removed it.',
  clock_difference: 'Set the clock of this machine, unless this is an old request that was sent again.',
};
const NO_SECRET = 'There is no secret to verify it with: start again with --secret.';

/** Verifies a delivery, and finds the most likely cause if that fails. @param secret undefined to accept every event. */
export async function judgeDelivery(
  body: Buffer,
  headers: IncomingHttpHeaders,
  secret: string | undefined,
): Promise<Judgement> {
  if (secret === undefined) {
    const event = parse(body.toString()) as Partial<OrdersEvent> | undefined;
    return typeof event?.id === 'string' && typeof event.type === 'string'
      ? { verdict: 'unverified', detail: NO_SECRET, event: event as OrdersEvent }
      : { verdict: 'not_an_event', detail: 'The body is not an event.', event: null };
  }
  try {
    return { verdict: 'verified', detail: null, event: await verifyEvent(body, headers, secret) };
  } catch (error) {
    if (!(error instanceof VerificationError)) throw error;
    const { verdict, detail = [error.message, ADVICE[verdict]].join(' ').trim() } = await diagnose(
      error,
      body,
      headers,
      secret,
    );
    return { verdict, detail, event: null };
  }
}

async function diagnose(
  { message }: VerificationError,
  body: Buffer,
  headers: IncomingHttpHeaders,
  secret: string,
): Promise<{ verdict: Verdict; detail?: string }> {
  if (/is missing/.test(message)) return { verdict: 'missing_header' };
  if (/the clock of this machine/.test(message)) return { verdict: 'clock_difference' };
  if (/not a Unix time/.test(message)) return { verdict: 'malformed_header' };
  if (/not an event/.test(message)) return { verdict: 'not_an_event' };
  if (!/(^| )v1,[\w+/]{43}=( |$)/.test(String(headers['webhook-signature'])))
    return {
      verdict: 'malformed_header',
      detail: 'webhook-signature must be v1, and the base64 of 32 bytes; several have a space between them.',
    };
  for (const text of originalsOf(body.toString())) {
    if (await isAuthentic(text, headers, secret))
      return {
        verdict: 'body_changed',
        detail: 'The body was changed after it was signed: the same JSON, but not the same bytes. Look for a proxy.',
      };
  }
  return {
    verdict: 'wrong_secret',
    detail:
      'No signature matches. Most likely --secret belongs to another endpoint, or is from before a rotation; otherwise the content was changed on its way.',
  };
}

/** What a body may have been before it was formatted again. */
function originalsOf(text: string): string[] {
  const parsed = parse(text);
  return parsed === undefined ? [text.trim()] : [JSON.stringify(parsed), text.trim()];
}

async function isAuthentic(text: string, headers: IncomingHttpHeaders, secret: string): Promise<boolean> {
  try {
    await verifyEvent(text, headers, secret);
    return true;
  } catch {
    return false;
  }
}

/** Undefined if the text is no JSON object. */
function parse(text: string): object | undefined {
  try {
    const value = JSON.parse(text);
    return typeof value === 'object' && value !== null ? value : undefined;
  } catch {
    return undefined;
  }
}
