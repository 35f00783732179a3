import { type DeliveryAttempt, type Endpoint, findEndpoint } from '@orders/database/endpoints/endpoints.ts';
import type { Connection } from '@orders/database/run.ts';
import { withoutQuery } from '@orders/domain/endpoints.ts';
import { eventId } from '@orders/domain/events.ts';
import { Problem } from '@orders/domain/problems.ts';
import type { Request } from 'express';
import { recordBy } from '../audit/record.ts';
import { accountIdOf } from '../context.ts';
import { textIdOf } from '../read-request.ts';

/** An endpoint as the portal shows it. */
export type EndpointJson = Omit<Endpoint, 'account_id' | 'endpoint_number'>;

export function endpointJson(endpoint: Endpoint): EndpointJson {
  const { endpoint_id, url, types, created_at, disabled, failing_since, waiting, pending, previous_until } = endpoint;
  return { endpoint_id, url, types, created_at, disabled, failing_since, waiting, pending, previous_until };
}

/** An attempt with the id of its event as the endpoint got it. */
export function attemptJson(attempt: DeliveryAttempt): DeliveryAttempt {
  return { ...attempt, event_id: eventId(attempt.event_id) };
}

/** The endpoint in the path. @throws {Problem} `endpoint_not_found`. */
export async function endpointOf(connection: Connection, request: Request): Promise<Endpoint> {
  const id = textIdOf(request.params.endpointId);
  const endpoint = id === null ? null : await findEndpoint(connection, accountIdOf(request), id);
  if (!endpoint) throw new Problem('endpoint_not_found');
  return endpoint;
}

/** Writes an audit entry about an endpoint. */
export function recordEndpoint(
  transaction: Connection,
  request: Request,
  action: string,
  { account_id, endpoint_number, url }: Endpoint,
  more: object = {},
): Promise<void> {
  const details = { url: withoutQuery(url), ...more };
  return recordBy(transaction, request, {
    accountId: account_id,
    action,
    subject: `endpoint:${endpoint_number}`,
    details,
  });
}
