import { createServer, type ServerResponse } from 'node:http';
import {
  createEndpoint,
  type DeliveryAttempt,
  listAttempts,
  requestTest,
} from '@orders/database/endpoints/endpoints.ts';
import { setEvents } from '@orders/database/events/event-logs.ts';
import type { EventType } from '@orders/domain/events.ts';
import { connectionOf } from '@orders/test-services/open-knex.ts';
import { until } from '@orders/test-services/until.ts';
import { Webhook } from 'standardwebhooks';
import { listen } from './listen.ts';
import type { Stack } from './stack.ts';

/** A delivery as it arrived. */
export interface ReceivedEvent {
  headers: Record<string, string>;
  text: string;
  // biome-ignore lint/suspicious/noExplicitAny: tests read events of every type.
  event: any;
}

/** Replies to a delivery; a number is a status. */
export type Respond = number | ((received: ReceivedEvent, response: ServerResponse) => void);

export interface EventReceiver {
  url: string;
  received: ReceivedEvent[];
  /** How it replies from now on; at first 204. */
  respond(how: Respond): void;
  /** @throws when the signature of a delivery does not fit the secret. */
  verify(received: ReceivedEvent, secret: string): void;
  close(): Promise<void>;
}

/** Starts an endpoint on 127.0.0.1 that keeps what it received. */
export async function startEventReceiver(): Promise<EventReceiver> {
  const received: ReceivedEvent[] = [];
  let respond: Respond = 204;
  const server = createServer(async (request, response) => {
    try {
      const chunks: Buffer[] = [];
      for await (const chunk of request) chunks.push(chunk);
      const text = Buffer.concat(chunks).toString();
      const delivery = { headers: request.headers as Record<string, string>, text, event: JSON.parse(text) };
      received.push(delivery);
      if (typeof respond === 'number') response.writeHead(respond).end();
      else respond(delivery, response);
    } catch {
      response.destroy();
    }
  });
  const { url, close } = await listen(server);
  return {
    url: `${url}/hook`,
    close,
    received,
    respond(how) {
      respond = how;
    },
    verify({ headers, text }, secret) {
      new Webhook(secret).verify(text, headers);
    },
  };
}

/** Registers an endpoint without the check of its URL, has a test event delivered, and returns the attempt. */
export async function callEndpoint(stack: Stack, url: string): Promise<DeliveryAttempt> {
  const { knex } = stack.database;
  const { id } = await stack.account();
  await setEvents(connectionOf(knex), id, true);
  const endpoint = await createEndpoint(connectionOf(knex), stack.secretsKey, { accountId: id, url, types: null });
  await requestTest(connectionOf(knex), endpoint);
  return until(
    `the attempt to call ${url}`,
    async () => (await listAttempts(connectionOf(knex), endpoint, { limit: 1 }))[0],
  );
}

/** Enables events for a new account, and makes an endpoint of it at a new receiver. */
export async function subscribe(stack: Stack, types: EventType[] | null = null) {
  const { knex } = stack.database;
  const account = await stack.account();
  await setEvents(connectionOf(knex), account.id, true);
  const receiver = await startEventReceiver();
  const options = { accountId: account.id, url: receiver.url, types };
  return { account, receiver, endpoint: await createEndpoint(connectionOf(knex), stack.secretsKey, options) };
}
