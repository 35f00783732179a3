import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { createDeliveryLedger, type DeliveryLedger } from './delivery-ledger.ts';
import type { Findings } from './findings.ts';

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
