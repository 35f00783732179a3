import { connect, type Socket } from 'node:net';
import { closeAfterTest } from './close-at-end.ts';

/** An HTTP reply on a raw connection; `body` is parsed if it is JSON. */
export interface RawReply {
  status: number;
  headers: Record<string, string>;
  // biome-ignore lint/suspicious/noExplicitAny: as in `Reply`.
  body: any;
}

/** A connection that sends any bytes unchanged, including those that an HTTP client would correct or reject. */
export interface RawConnection {
  socket: Socket;
  /** The next reply; null if the connection ends before it. Fails after `timeoutMs` milliseconds, by default 90 s. */
  reply(timeoutMs?: number): Promise<RawReply | null>;
  /** Settles when the connection is closed, with the error if there was one. */
  closed: Promise<Error | null>;
}

/** Connects to the host and port of an intake's URL, until the end of the test. */
export function openRaw(url: string): RawConnection {
  const socket = connect({ port: Number(new URL(url).port), host: '127.0.0.1', noDelay: true });
  closeAfterTest({ close: async () => socket.destroy() });
  let received = Buffer.alloc(0);
  let failure: Error | null = null;
  let hasEnded = false;
  let look = () => {};
  socket.on('data', (chunk) => {
    received = Buffer.concat([received, chunk]);
    look();
  });
  socket.on('error', (error) => {
    failure = error;
  });
  const closed = new Promise<Error | null>((resolve) => {
    socket.once('close', () => {
      hasEnded = true;
      resolve(failure);
      look();
    });
  });
  return {
    socket,
    closed,
    reply: (timeoutMs = 90_000) =>
      new Promise((resolve, reject) => {
        const late = setTimeout(() => reject(new Error(`no reply within ${timeoutMs} ms`)), timeoutMs);
        const settle = () => {
          const { reply, length } = parse(received, hasEnded);
          if (!reply && !hasEnded) return;
          received = received.subarray(length);
          clearTimeout(late);
          look = () => {};
          resolve(reply);
        };
        look = () => {
          try {
            settle();
          } catch (error) {
            clearTimeout(late);
            reject(error);
          }
        };
        look();
      }),
  };
}

/** Sends bytes on a new connection and reads one reply. */
export async function exchange(url: string, ...bytes: (string | Buffer)[]): Promise<RawReply | null> {
  const connection = openRaw(url);
  for (const part of bytes) connection.socket.write(part);
  try {
    return await connection.reply();
  } finally {
    connection.socket.destroy();
  }
}

/** The head of a request, with the request line and headers unchanged, in Latin-1 so that they can contain any byte. */
export function head(requestLine: string, headers: [name: string, value: string | number][]): Buffer {
  const lines = [requestLine, ...headers.map(([name, value]) => `${name}: ${value}`)];
  return Buffer.from(`${lines.join('\r\n')}\r\n\r\n`, 'latin1');
}

const HEAD_END = '\r\n\r\n';
const LAST_CHUNK = '0\r\n\r\n';

/** The first complete reply in the received bytes, or null, and its length. */
function parse(received: Buffer, hasEnded: boolean): { reply: RawReply | null; length: number } {
  const nothing = { reply: null, length: 0 };
  const headEnd = received.indexOf(HEAD_END);
  if (headEnd < 0) return nothing;
  const [statusLine = '', ...lines] = received.toString('latin1', 0, headEnd).split('\r\n');
  const status = Number(/^HTTP\/1\.1 (\d{3}) /.exec(statusLine)?.[1]);
  if (!status) throw new Error(`no HTTP reply: ${JSON.stringify(statusLine)}`);
  const bodyStart = headEnd + HEAD_END.length;
  if (status === 100) {
    const { reply, length } = parse(received.subarray(bodyStart), hasEnded);
    return reply ? { reply, length: bodyStart + length } : nothing;
  }
  const headers = Object.fromEntries(
    lines.map((line) => [line.slice(0, line.indexOf(':')).toLowerCase(), line.slice(line.indexOf(':') + 1).trim()]),
  );
  const bodyLength = measureBody(received.subarray(bodyStart), headers, hasEnded);
  if (bodyLength === null || received.length < bodyStart + bodyLength) return nothing;
  const length = bodyStart + bodyLength;
  const text = received.toString('utf8', bodyStart, length);
  const isJson = /json/.test(headers['content-type'] ?? '') && text !== '';
  return { reply: { status, headers, body: isJson ? JSON.parse(text) : text }, length };
}

/** Length of the body; null while unknown. Chunks are not joined, as only Node's own empty replies are chunked. */
function measureBody(body: Buffer, headers: RawReply['headers'], hasEnded: boolean): number | null {
  if ('content-length' in headers) return Number(headers['content-length']);
  const lastChunk = headers['transfer-encoding'] === 'chunked' ? body.indexOf(LAST_CHUNK) : -1;
  if (lastChunk >= 0) return lastChunk + LAST_CHUNK.length;
  return hasEnded ? body.length : null;
}
