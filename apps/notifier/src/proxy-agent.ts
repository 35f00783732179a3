import http from 'node:http';
import https, { type AgentOptions } from 'node:https';
import type { Duplex } from 'node:stream';

/** The proxy was not reached, or did not connect. Its reply is not that of the endpoint. */
export class ProxyFailed extends Error {}

type OnConnection = (error: Error | null, stream?: Duplex | null) => void;

/**
 * An agent for https through a forward proxy (RFC 9110, section 9.3.6). A request whose proxy does not connect in time, or replies
 * anything but 2xx, fails with `ProxyFailed`.
 *
 * @param proxy its URL, http or https, with a user and a password if it needs them.
 * @param timeoutMs from connecting to the proxy to its reply.
 */
export function createProxyAgent(proxy: URL, options: AgentOptions, timeoutMs: number): https.Agent {
  return new ProxyAgent(proxy, options, timeoutMs);
}

class ProxyAgent extends https.Agent {
  readonly #proxy: URL;
  readonly #timeoutMs: number;

  constructor(proxy: URL, options: AgentOptions, timeoutMs: number) {
    super(options);
    this.#proxy = proxy;
    this.#timeoutMs = timeoutMs;
  }

  override createConnection(options: https.RequestOptions, onConnection: OnConnection): undefined {
    const { host } = options;
    const target = `${host}:${options.port}`;
    const connect = (this.#proxy.protocol === 'http:' ? http : https).request({
      agent: false,
      host: this.#proxy.hostname.replace(/^\[(.*)\]$/, '$1'),
      port: this.#proxy.port,
      method: 'CONNECT',
      path: target,
      headers: { Host: target, ...authorization(this.#proxy) },
      signal: AbortSignal.timeout(this.#timeoutMs),
    });
    connect.once('error', (error) => onConnection(new ProxyFailed('no reply', { cause: error })));
    connect.once('connect', ({ statusCode = 0 }, socket) => {
      if (statusCode >= 200 && statusCode < 300) {
        // The request owns the connection before the handshake, so that its time limit ends it.
        onConnection(null, super.createConnection({ ...options, socket } as https.RequestOptions));
        return;
      }
      socket.destroy();
      onConnection(new ProxyFailed(`status ${statusCode}`));
    });
    connect.end();
  }
}

function authorization({ username, password }: URL): { 'Proxy-Authorization'?: string } {
  if (!username && !password) return {};
  const credentials = `${decodeURIComponent(username)}:${decodeURIComponent(password)}`;
  return { 'Proxy-Authorization': `Basic ${Buffer.from(credentials).toString('base64')}` };
}
