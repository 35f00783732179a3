import type { DeliveryAttempt } from '@orders/database/endpoints/endpoints.ts';
import type { EventLogState } from '@orders/database/events/event-logs.ts';
import type { EventType } from '@orders/domain/events.ts';
import type { UseQueryResult } from '@tanstack/react-query';
import type { EndpointJson } from '../../../src/integrations/endpoint-json.ts';
import { call, type Json } from './client.ts';
import { useGet } from './queries.ts';

export type { EventLogState, EventType };

export type Endpoint = Json<Omit<EndpointJson, 'types'>> & { types: EventType[] | null };

/** A reply with the secret that was created. */
export type EndpointWithSecret = Endpoint & { secret: string };

/** `event_id` is the public one. */
export type Attempt = Json<DeliveryAttempt>;

const POLL_INTERVAL_MS = 5000;

const at = (accountId: number) => `/accounts/${accountId}`;
/** The path of an endpoint. */
export const endpointAt = (accountId: number, endpointId: string) => `${at(accountId)}/endpoints/${endpointId}`;

/** The state of the account's log of events. */
export function useEventLog(accountId: number): UseQueryResult<EventLogState> {
  return useGet(['events', accountId], `${at(accountId)}/events`, { refetchInterval: POLL_INTERVAL_MS });
}

export function useEndpoints(accountId: number): UseQueryResult<Endpoint[]> {
  return useGet(['endpoints', accountId], `${at(accountId)}/endpoints`, {
    select: (reply: { endpoints: Endpoint[] }) => reply.endpoints,
    refetchInterval: POLL_INTERVAL_MS,
  });
}

/** Has a range of events delivered again. @returns how many there are. */
export async function resendEvents(accountId: number, endpointId: string, from: number, to: number): Promise<number> {
  const path = `${endpointAt(accountId, endpointId)}/resend`;
  return (await call<{ events: number }>('POST', path, { body: { from, to } })).events;
}
