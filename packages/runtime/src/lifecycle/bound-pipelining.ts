import type { IncomingMessage, RequestListener, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

/** What Node's HTTP server attaches to a socket. */
interface Parser {
  /** Called with the head of each request. @returns how the parser goes on. */
  onIncoming(request: IncomingMessage, shouldKeepAlive: boolean): number;
}

/** The parser takes the rest of the connection for another protocol, and parses nothing more of the chunk. */
const STOP = 2;

/** Counted up when the event loop comes to its next turn. */
let turn = 0;
let isTurnPlanned = false;

function currentTurn(): number {
  if (!isTurnPlanned) {
    isTurnPlanned = true;
    setImmediate(() => {
      turn += 1;
      isTurnPlanned = false;
    });
  }
  return turn;
}

/**
 * Closes a connection that pipelines more than `max` requests: that begin in one turn of the event loop, or that are not answered. Node
 * emits all requests of a chunk, up to 2,400 of them, in one turn, also after the connection is destroyed, so a few connections that
 * pipeline could stop every other one. Here its parser stops within the chunk. Senders repeat what was not answered (RFC 9112, 9.3.2).
 */
export function boundPipelining(server: Server, max: number): Server {
  const unanswered = new WeakMap<Socket, number>();
  // After Node's own listener, which attaches the parser.
  server.on('connection', (socket: Socket & { parser: Parser }) => {
    const { parser } = socket;
    const begin = parser.onIncoming;
    let begunIn = -1;
    let begun = 0;
    parser.onIncoming = (request, shouldKeepAlive) => {
      const now = currentTurn();
      begun = begunIn === now ? begun + 1 : 1;
      begunIn = now;
      if (begun <= max && (unanswered.get(socket) ?? 0) < max) return begin.call(parser, request, shouldKeepAlive);
      socket.destroy();
      return STOP;
    };
  });
  server.prependListener('request', ({ socket }: IncomingMessage, response: ServerResponse) => {
    unanswered.set(socket, (unanswered.get(socket) ?? 0) + 1);
    response.once('close', () => unanswered.set(socket, (unanswered.get(socket) ?? 1) - 1));
  });
  return server;
}

/**
 * Handles the requests of a connection one after the other: a pipelined one begins after the reply before it, and its body is not read until
 * then. Otherwise what it holds (its body, a slot) would be held until that reply, which may wait for half a minute.
 */
export function oneAtATime(handle: RequestListener): RequestListener {
  const newest = new WeakMap<Socket, ServerResponse>();
  return (request, response) => {
    const { socket } = request;
    const before = newest.get(socket);
    newest.set(socket, response);
    if (!before || before.closed) return handle(request, response);
    before.once('close', () => {
      if (!socket.destroyed) handle(request, response);
    });
  };
}
