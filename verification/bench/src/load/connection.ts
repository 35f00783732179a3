import { connect, type Socket } from 'node:net';

/** The reply to one order. */
export interface OrderReply {
  /** The HTTP status; 0 if the connection failed. */
  status: number;
  /** The time of the complete reply, from `performance.now()`. */
  at: number;
}

/** A keep-alive connection with one request at a time. It is opened again if the server has closed it. */
export interface Connection {
  /** Sends a body with optional headers. `done` is called once, never before `send` returns. */
  send(body: string, done: (reply: OrderReply) => void, headers?: Record<string, string>): void;
  close(): void;
}

const HEAD_END = '\r\n\r\n';
const CONTENT_LENGTH = /\r\ncontent-length: *(\d+)/i;

/**
 * A minimal HTTP/1.1 client for the contestants: one reply per request, with a Content-Length. The driver shares its CPUs
 * with the measured processes, and a full HTTP client would cost two to three times as much per order.
 *
 * @param apiKey is sent as the Bearer key.
 */
export function openConnection(url: string, apiKey: string): Connection {
  const { host, hostname, port, pathname } = new URL(url);
  const head = `POST ${pathname} HTTP/1.1\r\nhost: ${host}\r\nauthorization: Bearer ${apiKey}\r\n`;
  const json = headLines({ 'content-type': 'application/json' });
  let received = '';
  let waiting: ((reply: OrderReply) => void) | null = null;
  let socket = open();

  function reply(status: number): void {
    const done = waiting;
    waiting = null;
    received = '';
    done?.({ status, at: performance.now() });
  }

  function open(): Socket {
    const opened = connect({ host: hostname, port: Number(port), noDelay: true }).setEncoding('latin1');
    opened.on('data', (text: string) => {
      received += text;
      const headEnd = received.indexOf(HEAD_END);
      if (headEnd < 0) return;
      const length = Number(CONTENT_LENGTH.exec(received)?.[1] ?? 0);
      if (received.length >= headEnd + HEAD_END.length + length) reply(Number(received.slice(9, 12)));
    });
    opened.on('error', () => {});
    opened.on('close', () => {
      if (opened === socket) reply(0);
    });
    return opened;
  }

  return {
    send(body, done, headers) {
      waiting = done;
      // Servers close connections that were idle for some seconds.
      if (socket.destroyed) socket = open();
      const own = headers ? headLines(headers) : json;
      socket.write(`${head}${own}content-length: ${Buffer.byteLength(body)}${HEAD_END}${body}`);
    },
    close: () => socket.destroy(),
  };
}

function headLines(headers: Record<string, string>): string {
  return Object.entries(headers)
    .map(([name, value]) => `${name}: ${value}\r\n`)
    .join('');
}
