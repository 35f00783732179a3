import type { User } from '@orders/database/users/users.ts';
import type { WorkerState } from '@orders/database/workers.ts';
import type { NamedEvent } from '@orders/portal/audit/audit-subjects.ts';
import type { AccountWithCounts } from '@orders/portal/operator/list-accounts-with-counts.ts';
import type { OperatorChange as Change } from '@orders/portal/operator/store-operator-changes.ts';
import type { DeadLetterOfAccount } from '@orders/portal/receipts/dead-letters.ts';
import type { LaneState } from '@orders/queue/queue-stats.ts';
import { call, type Json } from './client.ts';
import type { MemberRole } from './session.ts';

/** `rate_limit` is `100/1s`, `none` or `default`. */
export type AccountRow = Json<Omit<AccountWithCounts, 'rate_limit'>> & { rate_limit: string };

export interface AccountPage {
  accounts: AccountRow[];
  /** Counting stops above this. */
  counted_to: number;
  next: number | null;
}

export type UserRow = Json<User>;
export type UserRole = MemberRole | 'operator';

export interface UserPage {
  users: UserRow[];
  /** The last e-mail address of this page, as cursor. */
  next: string | null;
}

export interface InvitationLink {
  email: string;
  link: string;
  expires_at: string;
  sets_new_password: boolean;
}

/** A change of an operator that waits for the approval of another one. `own`: this user requested it, and cannot approve it. */
export type OperatorChange = Json<Omit<Change, 'target_user_id' | 'requested_by_id'>> & { own: boolean };

/** A change waits if it concerns an operator; otherwise it was made, with a link if it makes one. */
export type Requested = InvitationLink | OperatorChange | undefined;

/** Invites a user to an account, or, without one, an operator. */
export function inviteUser(email: string, to: { account_id: number; role: MemberRole } | null): Promise<Requested> {
  return call('POST', '/operator/users', { body: { email, account_id: null, ...to } });
}

/** Asks for a link with which a user sets a new password. */
export function requestLink({ email, memberships: [first] }: UserRow): Promise<Requested> {
  return inviteUser(email, first ?? null);
}

export type Worker = Json<WorkerState>;

/** `lanes` is null while the queue is unavailable. */
export interface ServiceState {
  lanes: LaneState[] | null;
  workers: Worker[];
  oldest_pending_at: string | null;
}

export type DeadRow = Json<DeadLetterOfAccount>;

export interface DeadPage {
  dead: DeadRow[];
  next: { died_at: string; receipt_id: string } | null;
}

export type AuditEvent = Json<NamedEvent>;

export interface AuditPage {
  events: AuditEvent[];
  next: number | null;
}
