import type { Membership } from '@orders/database/users/memberships.ts';
import type { PortalRequest } from '@orders/database/users/portal-requests.ts';
import type { Role } from '@orders/database/users/users.ts';
import { requestContext } from '@orders/http/common-headers.ts';
import type { Request } from 'express';

/**
 * What a person may do in an account: `read` it, `review` orders, `develop` its integrations, `manage` its members and security. Only
 * operators may `operate` the service.
 */
export type Permission = 'read' | 'review' | 'develop' | 'manage' | 'operate';

/** The signed-in user. */
export interface Person {
  userId: string;
  email: string;
  name: string;
  role: Role;
  /** By account; empty for operators. */
  memberships: readonly Membership[];
  sessionId: string;
  /** When the user last proved who they are; null if an identity provider did not tell it. */
  authenticatedAt: Date | null;
  /** Whether a second factor was part of that. */
  hasProvedSecondFactor: boolean;
  /** Whether the user has set up a second factor that was no part of that. */
  hasUnprovedSecondFactor: boolean;
}

/** Shares the fair limits among requests that concern no account, such as an operator's. */
export const NO_ACCOUNT_ID = 0;

/** State of one request, shared by its middleware and routes. */
export interface RequestContext {
  requestId: string;
  startedAt: number;
  /** Aborted when the response is sent or the client has disconnected. */
  closed: AbortSignal;
  person?: Person;
  /** The account that the request concerns; the person's access to it was checked. */
  accountId?: number;
  /** What the person may do in that account. */
  permissions?: readonly Permission[];
  /** Whether a repetition of the request must not be carried out again. */
  isChange?: boolean;
  /** The key of a change, until its outcome is stored. */
  claim?: PortalRequest;
  /** The receipt that the request concerns. */
  receiptId?: string;
  problem?: string;
}

/** `startRequest` sets the context. */
export const { setContext, contextOf } = requestContext<RequestContext>();

/** Fields that identify a request in the log. */
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

/** The signed-in user; only for routes with a session. */
export function personOf(request: Request): Person {
  const { person } = contextOf(request);
  if (!person) throw new Error('a route without sign-in');
  return person;
}

/** Whether the person may do this in the account that the request concerns. */
export function may(request: Request, permission: Permission): boolean {
  return contextOf(request).permissions?.includes(permission) ?? false;
}

/** Only for routes below `/api/accounts/:accountId`. */
export function accountIdOf(request: Request): number {
  const { accountId } = contextOf(request);
  if (accountId === undefined) throw new Error('a route without account');
  return accountId;
}
