import type { Role } from '@orders/database';
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

const CONTEXT = Symbol('context');

type WithContext = Request & { [CONTEXT]?: RequestContext };

/** Gives a request its context, once. */
export function setContext(request: WithContext, context: RequestContext): void {
  request[CONTEXT] = context;
}

/** The context that `beginRequest` made. */
export function contextOf(request: WithContext): RequestContext {
  const context = request[CONTEXT];
  if (!context) throw new Error('a request without context');
  return context;
}

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
