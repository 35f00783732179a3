import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { isDeepStrictEqual } from 'node:util';
import { Webhook } from 'standardwebhooks';
import { createCounter } from './counter.ts';
import type { Finding, Findings } from './findings.ts';
import type { FeedEvent } from './ledger.ts';

/** The requests that an endpoint received. Like the ledger of orders, it shares no code with the service. */
type DeliveryLedger = ReturnType<typeof createDeliveryLedger>;

/** @param options `secret` signs every delivery. */
export function createDeliveryLedger(options: { accountId: number; secret: string; findings: Findings }) {
  const { accountId, secret, findings } = options;
  const webhook = new Webhook(secret);
  /** The first body by event id. */
  const received = new Map<string, string>();
  const delivered = new Set<string>();
  const counter = createCounter();

  const findingId = (id: string) => `account ${accountId} ${id}`;

  return {
    /**
     * Enters a complete request, however the endpoint replies.
     *
     * @returns a function that enters the delivery; call it with a 2xx reply.
     */
    enter(headers: NodeJS.Dict<string>, text: string): () => void {
      const id = headers['webhook-id'] ?? '';
      try {
        webhook.verify(text, headers as Record<string, string>, { jsonParse: false });
      } catch (error) {
        findings.add({ name: 'delivery-signature-invalid', id: findingId(id), detail: String(error) });
      }
      const first = received.get(id) ?? text;
      received.set(id, first);
      if (first !== text) findings.add({ name: 'delivery-differs', id: findingId(id), detail: `${first} and ${text}` });
      counter.add('requests');
      return () => {
        counter.add(delivered.has(id) ? 'repeated' : 'delivered');
        delivered.add(id);
      };
    },
    /** The ids of all events that were received so far. */
    receivedIds: (): string[] => [...received.keys()],
    /** The events that were not delivered. */
    findMissing: (events: readonly FeedEvent[]): FeedEvent[] => events.filter(({ id }) => !delivered.has(id)),
    /**
     * Compares what was received with the feed of the account.
     *
     * @param ids compares only these.
     */
    compare(ids: readonly string[], feed: readonly FeedEvent[]): Finding[] {
      const events = new Map(feed.map((event) => [event.id, event]));
      return ids.flatMap((id): Finding[] => {
        const text = received.get(id) ?? '';
        const event = events.get(id);
        if (!event) return [{ name: 'delivery-unfounded', id: findingId(id), detail: text }];
        return isSame(text, event) ? [] : [{ name: 'delivery-differs', id: findingId(id), detail: text }];
      });
    },
    /** The counts since the last call. A delivery is a request with a 2xx reply; a repeated one is not the first of its event. */
    takeCounts: counter.take,
  };
}

function isSame(text: string, event: FeedEvent): boolean {
  if (text === JSON.stringify(event)) return true;
  try {
    return isDeepStrictEqual(JSON.parse(text), event);
  } catch {
    return false;
  }
}

/** How an endpoint treats deliveries: it never replies if it hangs, and does not listen if it is gone. */
export type EndpointMode = 'works' | 'slow' | 'fails' | 'hangs' | 'resets' | 'gone';

/** The endpoint of an account. */
export interface EndpointReceiver {
  accountId: number;
  deliveries: DeliveryLedger;
  setMode(mode: EndpointMode): Promise<void>;
  close(): Promise<void>;
}

const SLOW_MS = 1500;
const HOST = '127.0.0.1';

/** @param options `secret` is that of the endpoint, whose URL is `endpointUrl(port)`. */
export async function startEndpointReceiver(options: {
  accountId: number;
  secret: string;
  port: number;
  findings: Findings;
}): Promise<EndpointReceiver> {
  const { accountId, port } = options;
  const deliveries = createDeliveryLedger(options);
  let mode: EndpointMode = 'works';
  let server: Server | null = await listen();

  async function listen(): Promise<Server> {
    const started = createServer((request, response) => {
      // A request that its client cut off was not received.
      receive(request, response).catch(() => response.destroy());
    });
    started.listen(port, HOST);
    await once(started, 'listening');
    return started;
  }

  async function receive(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk);
    const accept = deliveries.enter(request.headers as Record<string, string>, Buffer.concat(chunks).toString());
    const succeed = () => {
      response.writeHead(204).end();
      accept();
    };
    switch (mode) {
      case 'works':
        return succeed();
      case 'slow':
        return void setTimeout(() => response.destroyed || succeed(), SLOW_MS);
      case 'fails':
        return void response.writeHead(500).end();
      case 'hangs':
        return;
      default:
        request.socket.resetAndDestroy();
    }
  }

  async function stopListening(): Promise<void> {
    if (!server) return;
    const closed = once(server, 'close');
    server.close();
    server.closeAllConnections();
    server = null;
    await closed;
  }

  return {
    accountId,
    deliveries,
    async setMode(wanted) {
      mode = wanted;
      if (mode === 'gone') await stopListening();
      else server ??= await listen();
    },
    close: stopListening,
  };
}

/** The URL at which a receiver listens. */
export function endpointUrl(port: number): string {
  return `http://${HOST}:${port}/events`;
}
