import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

/** Requests of one connection that are being answered; the next one is not parsed before one of them is. */
const MAX_IN_FLIGHT = 8;
/** Pipelined requests that all connections together begin in one turn of the event loop. */
const MAX_PER_TURN = 16;
/** Bytes that are parsed at once within a body of unknown length: so many that a body is not taken apart, so few that they hold only few requests. */
const MIN_SLICE = 64;
/** A connection that sends more while its requests wait is closed. It is paused, so these are only bytes that were already under way. */
const MAX_HELD_BYTES = 2 ** 20;

const HEAD_END = '\r\n\r\n';

/**
 * Bounds what one chunk of bytes can start. Node's parser emits all requests of a chunk, up to 2,400 of them, in one turn of the event
 * loop, also after the connection is destroyed, so a few connections that pipeline could stop every other one. Here the parser gets the
 * bytes of one request at a time. The first request of a chunk is parsed at once, as always; each further one in a later turn, in which
 * the connections take turns and others are served.
 *
 * @param maxInFlight of one connection.
 */
export function boundPipelining(server: Server, maxInFlight = MAX_IN_FLIGHT): Server {
  const connections = new WeakMap<Socket, Connection>();
  const turns = createTurns();
  // After Node's own listener, which attaches the parser.
  server.on('connection', (socket: Socket) => connections.set(socket, new Connection(socket, maxInFlight, turns)));
  server.prependListener('request', (request: IncomingMessage, response: ServerResponse) =>
    connections.get(request.socket)?.begin(request, response),
  );
  return server;
}

type Turns = ReturnType<typeof createTurns>;

/** Connections that have something to parse, in the order in which they asked. */
function createTurns() {
  const waiting = new Set<Connection>();
  let isPlanned = false;
  const plan = () => {
    if (isPlanned || waiting.size === 0) return;
    isPlanned = true;
    setImmediate(take);
  };
  const take = () => {
    isPlanned = false;
    // Those that ask again meanwhile wait for the next turn.
    let left = Math.min(MAX_PER_TURN, waiting.size);
    for (const connection of waiting) {
      if (left-- === 0) break;
      waiting.delete(connection);
      connection.goOn();
    }
    plan();
  };
  return {
    add(connection: Connection): void {
      waiting.add(connection);
      plan();
    },
  };
}

class Connection {
  private readonly socket: Socket;
  private readonly maxInFlight: number;
  private readonly turns: Turns;
  private readonly parse: (bytes: Buffer) => void;
  /** Bytes that wait for their turn. */
  private held: Buffer | null = null;
  private inFlight = 0;
  /** The last request that began; its body may be incomplete. */
  private last: IncomingMessage | null = null;
  /** Bytes of its body that were not parsed yet; infinite if its length is not known. */
  private bodyLeft = 0;

  constructor(socket: Socket, maxInFlight: number, turns: Turns) {
    this.socket = socket;
    this.maxInFlight = maxInFlight;
    this.turns = turns;
    const [parse] = socket.listeners('data');
    this.parse = parse as (bytes: Buffer) => void;
    // Without a listener in JavaScript, the parser would read from the socket itself.
    socket.on('data', (bytes: Buffer) => this.receive(bytes));
    socket.removeListener('data', this.parse);
    // Node resumes a socket when its replies were read, and when a body is read.
    socket.on('resume', () => {
      if (this.held) this.hold(this.held);
    });
  }

  begin(request: IncomingMessage, response: ServerResponse): void {
    const { 'transfer-encoding': coding, 'content-length': length } = request.headers;
    this.last = request;
    this.bodyLeft = coding === undefined ? Number(length ?? 0) : Number.POSITIVE_INFINITY;
    this.inFlight += 1;
    response.once('close', () => {
      this.inFlight -= 1;
      if (this.held) this.turns.add(this);
    });
  }

  goOn(): void {
    const bytes = this.held;
    if (!bytes) return;
    this.held = null;
    this.feed(bytes);
    if (!this.held && !this.socket.destroyed) this.socket.resume();
  }

  private receive(bytes: Buffer): void {
    if (!this.held) {
      this.feed(bytes);
      return;
    }
    this.held = Buffer.concat([this.held, bytes]);
    this.socket.pause();
    if (this.held.length > MAX_HELD_BYTES) this.socket.destroy();
  }

  /** Parses what belongs to one request, and holds the rest. */
  private feed(bytes: Buffer): void {
    const { socket } = this;
    let rest = bytes;
    let isFirst = true;
    while (rest.length > 0 && !socket.destroyed) {
      if (this.isParserPaused()) {
        this.hold(rest);
        return;
      }
      const slice = rest.subarray(0, this.sliceLength(rest));
      if (this.isInBody()) this.bodyLeft -= slice.length;
      else if (!isFirst || this.inFlight >= this.maxInFlight) {
        this.hold(rest);
        return;
      } else isFirst = false;
      this.parse(slice);
      rest = rest.subarray(slice.length);
    }
  }

  /** Node pauses its parser until replies were read, and fails if it gets bytes meanwhile. */
  private isParserPaused(): boolean {
    return (this.socket as Socket & { _paused?: boolean })._paused === true;
  }

  private isInBody(): boolean {
    return this.last !== null && !this.last.complete && this.bodyLeft > 0;
  }

  private sliceLength(bytes: Buffer): number {
    if (this.isInBody() && Number.isFinite(this.bodyLeft)) return Math.min(this.bodyLeft, bytes.length);
    const end = bytes.indexOf(HEAD_END, this.isInBody() ? MIN_SLICE : 0, 'latin1');
    return end < 0 ? bytes.length : end + HEAD_END.length;
  }

  private hold(bytes: Buffer): void {
    const { socket } = this;
    // After its last reply: nothing else will be answered.
    if (socket.writableEnded) return;
    this.held = bytes;
    socket.pause();
    if (this.inFlight < this.maxInFlight && !this.isParserPaused()) this.turns.add(this);
  }
}
