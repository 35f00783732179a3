import type { AccountWithCounts, AuditEvent, DeadLetterOfAccount, User } from '@orders/database';
import type { LaneState } from '@orders/queue';
import type { Json } from './types.ts';

/** The rate limit as people write it: `100/1s`, `none` or `default`. */
export type AccountRow = Json<Omit<AccountWithCounts, 'rate_limit'>> & { rate_limit: string };

export interface AccountPage {
  accounts: AccountRow[];
  /** Counts above this say that there are more. */
  counted_to: number;
  next: number | null;
}

export type UserRow = Json<User>;

export interface UserPage {
  users: UserRow[];
  /** The address to go on behind. */
  next: string | null;
}

export interface InvitationLink {
  email: string;
  link: string;
  expires_at: string;
  sets_new_password: boolean;
}

/** What is null could not be asked for: the queue does not answer. */
export interface ServiceState {
  lanes: LaneState[] | null;
  workers: number | null;
  oldest_pending_at: string | null;
}

export type DeadRow = Json<DeadLetterOfAccount>;

export interface DeadPage {
  dead: DeadRow[];
  next: { died_at: string; receipt_id: string } | null;
}

export interface AuditPage {
  events: Json<AuditEvent>[];
  next: number | null;
}
