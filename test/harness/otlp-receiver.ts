import { createServer, type IncomingHttpHeaders } from 'node:http';
import { type Listening, listen } from './listen.ts';

/** A received span. */
export interface ReceivedSpan {
  service: string;
  name: string;
  /** 1 internal, 2 server, 5 consumer. */
  kind: number;
  traceId: string;
  spanId: string;
  /** Empty for a root. */
  parentSpanId: string;
  /** Ids of the spans that it is linked to. */
  links: string[];
  attributes: Record<string, unknown>;
  isFailed: boolean;
  /** Nanoseconds since 1970. */
  startedAt: bigint;
  endedAt: bigint;
}

/** A trace collector: receives OTLP over HTTP with protobuf. */
export interface OtlpReceiver extends Listening {
  spans: ReceivedSpan[];
  requests: { path: string; headers: IncomingHttpHeaders; body: Buffer }[];
}

/** @param status of its replies; spans of a request that it rejects are not kept. */
export async function startOtlpReceiver({ port = 0, status = 200 } = {}): Promise<OtlpReceiver> {
  const spans: ReceivedSpan[] = [];
  const requests: OtlpReceiver['requests'] = [];
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk) => chunks.push(chunk));
    request.on('end', () => {
      const body = Buffer.concat(chunks);
      requests.push({ path: request.url ?? '', headers: request.headers, body });
      if (status === 200) spans.push(...readRequest(body));
      response.writeHead(status, { 'Content-Type': 'application/x-protobuf' }).end();
    });
  });
  return { ...(await listen(server, port)), spans, requests };
}

// Parser of opentelemetry/proto/collector/trace/v1/trace_service.proto, by field numbers.

interface Message {
  all(field: number): Buffer[];
  bytes(field: number): Buffer;
  number(field: number): bigint;
}

function readMessage(bytes: Buffer): Message {
  const fields = new Map<number, (Buffer | bigint)[]>();
  let at = 0;
  const varint = () => {
    let value = 0n;
    for (let shift = 0n; ; shift += 7n) {
      const byte = bytes.readUInt8(at++);
      value |= BigInt(byte & 0x7f) << shift;
      if (byte < 0x80) return value;
    }
  };
  const take = (length: number) => {
    at += length;
    return bytes.subarray(at - length, at);
  };
  while (at < bytes.length) {
    const tag = Number(varint());
    const kept = fields.get(tag >> 3) ?? [];
    fields.set(tag >> 3, kept);
    if ((tag & 7) === 0) kept.push(varint());
    else if ((tag & 7) === 1) kept.push(take(8).readBigUInt64LE());
    else if ((tag & 7) === 2) kept.push(take(Number(varint())));
    else if ((tag & 7) === 5) kept.push(BigInt(take(4).readUInt32LE()));
    else throw new Error(`no wire type ${tag & 7}`);
  }
  const first = (field: number) => fields.get(field)?.[0];
  return {
    all: (field) => (fields.get(field) ?? []) as Buffer[],
    bytes: (field) => (first(field) ?? Buffer.alloc(0)) as Buffer,
    number: (field) => (first(field) ?? 0n) as bigint,
  };
}

function readRequest(body: Buffer): ReceivedSpan[] {
  return readMessage(body)
    .all(1)
    .map(readMessage)
    .flatMap((ofResource) => {
      const resource = readAttributes(readMessage(ofResource.bytes(1)).all(1));
      const scopes = ofResource.all(2).map(readMessage);
      return scopes.flatMap((scope) => scope.all(2).map((span) => readSpan(span, String(resource['service.name']))));
    });
}

function readSpan(bytes: Buffer, service: string): ReceivedSpan {
  const span = readMessage(bytes);
  return {
    service,
    name: span.bytes(5).toString(),
    kind: Number(span.number(6)),
    traceId: span.bytes(1).toString('hex'),
    spanId: span.bytes(2).toString('hex'),
    parentSpanId: span.bytes(4).toString('hex'),
    links: span.all(13).map((link) => readMessage(link).bytes(2).toString('hex')),
    attributes: readAttributes(span.all(9)),
    isFailed: readMessage(span.bytes(15)).number(3) === 2n,
    startedAt: span.number(7),
    endedAt: span.number(8),
  };
}

function readAttributes(attributes: Buffer[]): Record<string, unknown> {
  return Object.fromEntries(
    attributes.map((attribute) => {
      const pair = readMessage(attribute);
      return [pair.bytes(1).toString(), readValue(pair.bytes(2))];
    }),
  );
}

function readValue(bytes: Buffer): unknown {
  const value = readMessage(bytes);
  const [kind] = bytes;
  if (kind === undefined) return null;
  if (kind >> 3 === 1) return value.bytes(1).toString();
  if (kind >> 3 === 2) return value.number(2) === 1n;
  if (kind >> 3 === 3) return Number(value.number(3));
  if (kind >> 3 === 5) return readMessage(value.bytes(5)).all(1).map(readValue);
  throw new Error(`no value of kind ${kind >> 3}`);
}
