import http from 'node:http';
import https, { type AgentOptions } from 'node:https';
import { isIP } from 'node:net';
import type { Duplex } from 'node:stream';

/** The proxy was not reached, or did not connect. Its status is never reported as that of the endpoint. */
export class ProxyFailed extends Error {}

type OnConnection = (error: Error | null, stream?: Duplex | null) => void;

/** How to reach the proxy. */
interface Proxy {
  protocol: 'http:' | 'https:';
  host: string;
  port: string;
  headers: { 'Proxy-Authorization'?: string };
}

/**
 * Creates an agent for https through a forward proxy (RFC 9110, section 9.3.6). A request fails with `ProxyFailed` if the proxy does not
 * connect in time, or replies anything but 2xx.
 *
 * @param url of the proxy, http or https, with a user and a password if it needs them.
 * @param timeoutMs from connecting to the proxy to its reply.
 * @throws {URIError} if the user or the password is not valid percent-encoding.
 */
export function createProxyAgent(url: URL, options: AgentOptions, timeoutMs: number): https.Agent {
  const proxy: Proxy = {
    protocol: url.protocol === 'https:' ? 'https:' : 'http:',
    host: url.hostname.replace(/^\[(.*)\]$/, '$1'),
    port: url.port,
    headers: authorization(url),
  };
  return new ProxyAgent(proxy, options, timeoutMs);
}

class ProxyAgent extends https.Agent {
  readonly #proxy: Proxy;
  readonly #timeoutMs: number;

  constructor(proxy: Proxy, options: AgentOptions, timeoutMs: number) {
    super(options);
    this.#proxy = proxy;
    this.#timeoutMs = timeoutMs;
  }

  override createConnection(options: https.RequestOptions, onConnection: OnConnection): undefined {
    const { protocol, host, port, headers } = this.#proxy;
    const target = `${options.host}:${options.port}`;
    const connect = (protocol === 'http:' ? http : https).request({
      agent: false,
      host,
      port,
      // Without it, Node verifies the certificate of the proxy against the header `Host`, which names the endpoint.
      servername: isIP(host) ? '' : host,
      method: 'CONNECT',
      path: target,
      headers: { Host: target, ...headers },
      signal: AbortSignal.timeout(this.#timeoutMs),
    });
    connect.once('error', (error) => onConnection(new ProxyFailed('no reply', { cause: error })));
    connect.once('connect', ({ statusCode = 0 }, socket) => {
      if (statusCode >= 200 && statusCode < 300) {
        // The request gets the socket before the TLS handshake, so its time limit also ends a handshake that hangs.
        onConnection(null, super.createConnection({ ...options, socket } as https.RequestOptions));
        return;
      }
      socket.destroy();
      onConnection(new ProxyFailed(`status ${statusCode}`));
    });
    connect.end();
  }
}

function authorization({ username, password }: URL): Proxy['headers'] {
  if (!username && !password) return {};
  const credentials = `${decodeURIComponent(username)}:${decodeURIComponent(password)}`;
  return { 'Proxy-Authorization': `Basic ${Buffer.from(credentials).toString('base64')}` };
}
