import type { AccountWithCounts, DeadLetterOfAccount, NamedEvent, User, WorkerState } from '@orders/database';
import type { LaneState } from '@orders/queue';
import type { Json } from './types.ts';

/** `rate_limit` is `100/1s`, `none` or `default`. */
export type AccountRow = Json<Omit<AccountWithCounts, 'rate_limit'>> & { rate_limit: string };

export interface AccountPage {
  accounts: AccountRow[];
  /** Counting stops above this. */
  counted_to: number;
  next: number | null;
}

export type UserRow = Json<User>;

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
