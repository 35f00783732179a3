import { connect, type Socket } from 'node:net';

/** What came back on a connection, as far as it is HTTP; `body` is parsed where it is JSON. */
export interface RawReply {
  status: number;
  headers: Record<string, string>;
  // biome-ignore lint/suspicious/noExplicitAny: as in `Reply`.
  body: any;
}

/** A connection that sends what it is given, as it is, where an HTTP client would correct or reject it. */
export interface RawConnection {
  socket: Socket;
  /** The next reply; null when the connection ends without one. Fails after `timeoutMs` milliseconds, by default 10 s. */
  reply(timeoutMs?: number): Promise<RawReply | null>;
  /** Settles when the connection is closed, with the error if there was one. */
  closed: Promise<Error | null>;
}

/** Connects to the port of an intake's address. */
export function openRaw(url: string): RawConnection {
  const socket = connect({ port: Number(new URL(url).port), host: '127.0.0.1', noDelay: true });
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
    reply: (timeoutMs = 10_000) =>
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

/** Sends bytes on a connection of their own and reads one reply. */
export async function exchange(url: string, ...bytes: (string | Buffer)[]): Promise<RawReply | null> {
  const connection = openRaw(url);
  for (const part of bytes) connection.socket.write(part);
  try {
    return await connection.reply();
  } finally {
    connection.socket.destroy();
  }
}

/** The head of a request: the request line and headers as they are given, in Latin-1, so that any byte can be in them. */
export function head(requestLine: string, headers: [name: string, value: string | number][]): Buffer {
  const lines = [requestLine, ...headers.map(([name, value]) => `${name}: ${value}`)];
  return Buffer.from(`${lines.join('\r\n')}\r\n\r\n`, 'latin1');
}

const HEAD_END = '\r\n\r\n';
const LAST_CHUNK = '0\r\n\r\n';

/** The first reply in what was received, once it is whole, and how many bytes it took. */
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

/** Bytes of the body; null while that is not known. Chunks are not joined: only Node's own empty replies come in them. */
function measureBody(body: Buffer, headers: RawReply['headers'], hasEnded: boolean): number | null {
  if ('content-length' in headers) return Number(headers['content-length']);
  const lastChunk = headers['transfer-encoding'] === 'chunked' ? body.indexOf(LAST_CHUNK) : -1;
  if (lastChunk >= 0) return lastChunk + LAST_CHUNK.length;
  return hasEnded ? body.length : null;
}
