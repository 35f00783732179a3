import type { SnoozedOrder as Snoozed } from '@orders/portal/review/find-snoozes.ts';
import type { OpenRequests } from '@orders/portal/review/list-requests.ts';
import type { ExportedOrder } from '@orders/portal/review/read-exported.ts';
import type { Json } from './client.ts';
import type { ListedOrder, ReviewState } from './review.ts';

export type PrintedOrder = Json<ExportedOrder>;

/** What happened to a list since the last poll. */
export interface Updates {
  new: { orders: ListedOrder[]; more: boolean };
  changed: { order_id: number; review_state: ReviewState; by: string | null; at: string }[];
  edited: ListedOrder[];
  /** There were more changes than these. */
  more_changes: boolean;
  /** For the next poll. */
  event_after: number;
  /** `awaiting_payment`: whether there are any. */
  counts: { needs_review: number; capped: boolean; awaiting_payment: boolean };
  cancellation_requests: CancellationRequests;
  /** The snoozed orders, the first to come back first. */
  snoozed: SnoozedOrder[];
  viewers: Viewer[];
  /** Within how many minutes of its receipt an order is to be decided; null for no target. */
  review_target_minutes: number | null;
}

/** An order that a reviewer has snoozed. */
export type SnoozedOrder = Json<Snoozed>;

/** Requests to cancel orders that were dispatched; nobody has dealt with them. */
export type CancellationRequests = Json<OpenRequests>;

/** Another reviewer of the list, with the order that they have open. */
export interface Viewer {
  name: string;
  order_id: number | null;
}

/** The orders that match a filter, at most the 10,000 newest. */
export interface MatchingIds {
  order_ids: number[];
  blocked_ids: number[];
  /** Sent again with changes, about which nobody has decided. */
  undecided_ids: number[];
  capped: boolean;
}

/** The API's limit. */
export const MAX_EXPORTED = 1000;
