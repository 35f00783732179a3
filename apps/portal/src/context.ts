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
  person?: Person;
  /** The account that the request is about, which the person may see. */
  accountId?: number;
  problem?: string;
}

/** `contextOf` gives what `beginRequest` made. */
export const { setContext, contextOf } = requestContext<RequestContext>();

/** Who asks; only for routes behind `requirePerson`. */
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
