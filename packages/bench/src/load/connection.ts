import { Client } from 'undici';

/** What came back for one order. */
export interface Answer {
  /** The HTTP status; 0 when the connection failed. */
  status: number;
  /** Milliseconds of `performance.now()` at which the whole reply was there. */
  at: number;
}

/** One keep-alive connection with one request on it at a time. */
export interface Connection {
  /** Sends an order; `done` is called once, never before `send` returns. */
  send(body: string, done: (answer: Answer) => void): void;
  close(): Promise<void>;
}

/** @param apiKey is sent as the Bearer key. */
export function openConnection(url: string, apiKey: string): Connection {
  const { origin, pathname } = new URL(url);
  const client = new Client(origin, { pipelining: 1, keepAliveTimeout: 600_000, keepAliveMaxTimeout: 600_000 });
  const headers = ['authorization', `Bearer ${apiKey}`, 'content-type', 'application/json'];
  return {
    send(body, done) {
      let status = 0;
      client.dispatch(
        { path: pathname, method: 'POST', headers, body },
        {
          onRequestStart() {},
          onResponseStart(_controller, statusCode) {
            status = statusCode;
          },
          onResponseData() {},
          onResponseEnd: () => done({ status, at: performance.now() }),
          onResponseError: () => done({ status: 0, at: performance.now() }),
        },
      );
    },
    close: () => client.close(),
  };
}
