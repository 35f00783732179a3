import { connect, type Socket } from 'node:net';

/** A request of a load: a POST if it has a body, else a GET. */
export interface LoadRequest {
  /** Where it goes to; by default the URL of the connection. */
  url?: string;
  headers?: Record<string, string>;
  body?: string | Buffer;
}

/** The reply to one request. */
export interface Reply {
  /** The HTTP status; 0 if the connection failed. */
  status: number;
  /** The body; with the lengths of its chunks, if it has any. */
  text: string;
  /** The time of the complete reply, from `performance.now()`. */
  at: number;
  /** Why the connection failed: the code of the error. */
  failure?: string;
}

/**
 * A keep-alive connection with one request at a time, opened with its first request: a server replies 408 to one that stays silent for
 * long, and that reply would be taken for the one to a later request. It is opened again if it was closed or idle for long, or if a
 * request goes to another host.
 */
export interface Connection {
  /** Never fails. */
  exchange(request: LoadRequest): Promise<Reply>;
  /** A request without a reply gets one with status 0. */
  close(): void;
}

const HEAD_END = '\r\n\r\n';
const CONTENT_LENGTH = /\r\ncontent-length: *(\d+)/i;
const CHUNKED = /\r\ntransfer-encoding: *chunked/i;
const LAST_CHUNK = '\r\n0\r\n\r\n';
const CLOSES = /\r\nconnection: *close/i;
/** Half of the time after which the apps close an idle connection. */
const MAX_IDLE_MS = 30_000;

/**
 * A minimal HTTP/1.1 client. The load shares its CPUs with the measured processes, and a full HTTP client
 * would cost two to three times as much per order.
 *
 * @param url of requests that name none.
 * @param defaults headers of each request.
 */
export function openConnection(url: string, defaults: Record<string, string> = {}): Connection {
  const commonLines = headLines(defaults);
  let target = new URL(url);
  let received = '';
  let failure = '';
  let waiting: ((reply: Reply) => void) | null = null;
  let socket: Socket | null = null;
  let usedAt = 0;

  function answer(reply: Omit<Reply, 'at'>): void {
    const done = waiting;
    waiting = null;
    received = '';
    usedAt = performance.now();
    done?.({ ...reply, at: usedAt });
  }

  function open(): Socket {
    const { hostname, port } = target;
    const opened = connect({ host: hostname, port: Number(port), noDelay: true }).setEncoding('latin1');
    received = '';
    // As Node's own client calls it when a connection ends without a reply.
    failure = 'ECONNRESET';
    opened.on('data', (text: string) => {
      if (opened !== socket) return;
      received += text;
      const headEnd = received.indexOf(HEAD_END);
      if (headEnd < 0) return;
      const head = received.slice(0, headEnd);
      const bodyStart = headEnd + HEAD_END.length;
      const isComplete = CHUNKED.test(head)
        ? received.endsWith(LAST_CHUNK)
        : received.length >= bodyStart + Number(CONTENT_LENGTH.exec(head)?.[1] ?? 0);
      if (!isComplete) return;
      if (CLOSES.test(head)) opened.destroy();
      answer({ status: Number(head.slice(9, 12)), text: received.slice(bodyStart) });
    });
    opened.on('error', (error: NodeJS.ErrnoException) => {
      if (opened === socket) failure = error.code ?? error.message;
    });
    opened.on('close', () => {
      if (opened === socket) answer({ status: 0, text: '', failure });
    });
    return opened;
  }

  return {
    exchange({ url: to, headers, body }) {
      const { host } = target;
      if (to && to !== target.href) target = new URL(to);
      if (!socket?.writable || target.host !== host || performance.now() - usedAt > MAX_IDLE_MS) {
        socket?.destroy();
        socket = open();
      }
      const { promise, resolve } = Promise.withResolvers<Reply>();
      waiting = resolve;
      const method = body === undefined ? 'GET' : 'POST';
      const length = body === undefined ? '' : `content-length: ${Buffer.byteLength(body)}\r\n`;
      const own = headers ? headLines(headers) : '';
      const head = `${method} ${target.pathname}${target.search} HTTP/1.1\r\nhost: ${target.host}\r\n${commonLines}${own}${length}\r\n`;
      if (typeof body === 'string') socket.write(head + body);
      else {
        socket.write(head);
        if (body) socket.write(body);
      }
      return promise;
    },
    close: () => void socket?.destroy(),
  };
}

function headLines(headers: Record<string, string>): string {
  return Object.entries(headers)
    .map(([name, value]) => `${name}: ${value}\r\n`)
    .join('');
}
