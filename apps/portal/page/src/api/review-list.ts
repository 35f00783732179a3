import type { OpenRequests } from '@orders/portal/review/list-requests.ts';
import type { ExportedOrder } from '@orders/portal/review/read-exported.ts';
import type { Json } from './client.ts';
import { call, callForFile, type Query } from './client.ts';
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
  counts: { needs_review: number; capped: boolean };
  cancellation_requests: CancellationRequests;
  viewers: Viewer[];
}

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
  capped: boolean;
}

export interface SavedView {
  view_id: number;
  name: string;
  query: string;
}

/** The API's limit. */
export const MAX_EXPORTED = 1000;

export function readUpdates(accountId: number, query: Query, signal: AbortSignal): Promise<Updates> {
  return call('GET', `/accounts/${accountId}/orders/updates`, { query, signal });
}

export function readMatchingIds(accountId: number, query: Query, signal: AbortSignal): Promise<MatchingIds> {
  return call('GET', `/accounts/${accountId}/orders/ids`, { query, signal });
}

/** Orders with their items and notes, for printing. */
export function readOrders(accountId: number, order_ids: readonly number[]): Promise<{ orders: PrintedOrder[] }> {
  return call('POST', `/accounts/${accountId}/orders/export`, { body: { order_ids, format: 'json' } });
}

/** Downloads orders as a file for spreadsheets. */
export async function downloadOrders(accountId: number, order_ids: readonly number[]): Promise<void> {
  const file = await callForFile('POST', `/accounts/${accountId}/orders/export`, {
    body: { order_ids, format: 'csv' },
  });
  const link = document.createElement('a');
  link.href = URL.createObjectURL(file);
  link.download = `orders-${new Date().toISOString().slice(0, 10)}.csv`;
  link.click();
  URL.revokeObjectURL(link.href);
}

export async function readViews(accountId: number, signal: AbortSignal): Promise<SavedView[]> {
  return (await call<{ views: SavedView[] }>('GET', `/accounts/${accountId}/views`, { signal })).views;
}

export function saveView(accountId: number, view: { name: string; query: string }): Promise<SavedView> {
  return call('POST', `/accounts/${accountId}/views`, { body: view });
}

export function deleteView(accountId: number, viewId: number): Promise<void> {
  return call('DELETE', `/accounts/${accountId}/views/${viewId}`);
}
