import type { Activity } from '@orders/portal/overview/read-activity.ts';
import type { OpenRequests } from '@orders/portal/review/list-requests.ts';
import type { Decisions } from '@orders/portal/review/read-decisions.ts';
import type { WaitingOrders } from '@orders/portal/review/read-waiting.ts';
import type { Range } from '../../../src/overview/overview-routes.ts';
import type { Json } from './client.ts';

export type Overview = Json<Activity>;
export type OverviewPoint = Overview['points'][number];
export type { Range };
export const RANGES = ['hour', 'day', 'week', 'month'] as const satisfies readonly Range[];

export const OVERVIEW_INTERVAL_MS = 30_000;

/** What waits for a decision, and what was decided. */
export type ReviewOverview = Json<
  Decisions & { waiting: WaitingOrders; cancellation_requests: Pick<OpenRequests, 'count' | 'capped'> }
>;
