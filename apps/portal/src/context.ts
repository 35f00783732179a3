import type { Role } from '@orders/database';
import { requestContext } from '@orders/http';
import type { Request } from 'express';

/** Who is signed in. */
export interface Person {
  userId: string;
  email: string;
  name: string;
  role: Role;
  /** Of an account holder; an operator has none. */
  accountId: number | null;
  sessionId: string;
}

/** What the steps of one request tell each other and the log. */
export interface RequestContext {
  requestId: string;
  startedAt: number;
  /** Aborted when the reply is out or its client has disconnected. */
  closed: AbortSignal;
  person?: Person;
  /** The account that the request is about, which the person may see. */
  accountId?: number;
  /** The one receipt of that account that the request is about. */
  receiptId?: string;
  problem?: string;
}

/** `contextOf` gives what `startRequest` made. */
export const { setContext, contextOf } = requestContext<RequestContext>();

/** What names a request in the log. */
export function logFields({
  requestId,
  person,
  accountId,
  receiptId,
}: RequestContext): Record<string, string | number> {
  return {
    request_id: requestId,
    ...(person && { user_id: person.userId }),
    ...(accountId !== undefined && { account_id: accountId }),
    ...(receiptId && { receipt_id: receiptId }),
  };
}

/** Who asks; only for routes behind `requireSession`. */
export function personOf(request: Request): Person {
  const { person } = contextOf(request);
  if (!person) throw new Error('a route without sign-in');
  return person;
}

/** The account asked about; only for routes below `/api/accounts/:accountId`. */
export function accountIdOf(request: Request): number {
  const { accountId } = contextOf(request);
  if (accountId === undefined) throw new Error('a route without account');
  return accountId;
}
