import type { DeliveryAttempt } from '@orders/database/endpoints/endpoints.ts';
import type { EventLogState } from '@orders/database/events/event-logs.ts';
import type { EventType } from '@orders/domain/events.ts';
import { type UseQueryResult, useQuery } from '@tanstack/react-query';
import type { EndpointJson } from '../../../src/integrations/endpoint-json.ts';
import { usePagedList } from '../components/loaded.tsx';
import { call, type Json } from './client.ts';
import type { Grace } from './integrations.ts';

export type { EventLogState, EventType };

export type Endpoint = Json<Omit<EndpointJson, 'types'>> & { types: EventType[] | null };

/** A reply with the secret that was created. */
export type EndpointWithSecret = Endpoint & { secret: string };

/** `event_id` is the public one. */
export type Attempt = Json<DeliveryAttempt>;

const POLL_INTERVAL_MS = 5000;
const ATTEMPTS_INTERVAL_MS = 2000;
/** While a person waits for the outcome of a test. */
const TEST_INTERVAL_MS = 500;

const at = (accountId: number) => `/accounts/${accountId}`;
/** The path of an endpoint. */
export const endpointAt = (accountId: number, endpointId: string) => `${at(accountId)}/endpoints/${endpointId}`;

/** The state of the account's log of events. */
export function useEventLog(accountId: number): UseQueryResult<EventLogState> {
  return useQuery({
    queryKey: ['events', accountId],
    queryFn: ({ signal }) => call<EventLogState>('GET', `${at(accountId)}/events`, { signal }),
    refetchInterval: POLL_INTERVAL_MS,
  });
}

export function useEndpoints(accountId: number): UseQueryResult<Endpoint[]> {
  return useQuery({
    queryKey: ['endpoints', accountId],
    queryFn: async ({ signal }) =>
      (await call<{ endpoints: Endpoint[] }>('GET', `${at(accountId)}/endpoints`, { signal })).endpoints,
    refetchInterval: POLL_INTERVAL_MS,
  });
}

/** The attempts to deliver to an endpoint, newest first, in pages. */
export function useAttempts(accountId: number, endpointId: string) {
  return usePagedList({
    queryKey: ['attempts', accountId, endpointId],
    path: `${endpointAt(accountId, endpointId)}/attempts`,
    query: (before) => ({ before }),
    rowsOf: ({ attempts }: { attempts: Attempt[]; next: number | null }) => attempts,
    refetchInterval: ATTEMPTS_INTERVAL_MS,
  });
}

/** The attempt to deliver a test event; polled until it was made. */
export function useTestAttempt(accountId: number, endpointId: string, eventId: string): UseQueryResult<Attempt | null> {
  return useQuery({
    queryKey: ['attempts', accountId, endpointId, eventId],
    queryFn: async ({ signal }) => {
      const path = `${endpointAt(accountId, endpointId)}/attempts`;
      const { attempts } = await call<{ attempts: Attempt[] }>('GET', path, { query: { event_id: eventId }, signal });
      return attempts[0] ?? null;
    },
    refetchInterval: ({ state }) => (state.data ? false : TEST_INTERVAL_MS),
  });
}

// Requests that return a secret go through `useAction`. The cache of a query or mutation would keep the secret.

/** @param body without types, the endpoint gets all events. */
export function createEndpoint(
  accountId: number,
  body: { url: string; types: EventType[] | null },
): Promise<EndpointWithSecret> {
  return call('POST', `${at(accountId)}/endpoints`, { body });
}

export function rotateEndpoint(accountId: number, endpointId: string, overlap: Grace): Promise<EndpointWithSecret> {
  return call('POST', `${endpointAt(accountId, endpointId)}/secret`, { body: { overlap } });
}

/** Has a range of events delivered again. @returns how many there are. */
export async function resendEvents(accountId: number, endpointId: string, from: number, to: number): Promise<number> {
  const path = `${endpointAt(accountId, endpointId)}/resend`;
  return (await call<{ events: number }>('POST', path, { body: { from, to } })).events;
}
