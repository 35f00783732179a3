import type { IncomingMessage } from 'node:http';
import { Problem } from '@orders/domain/problems.ts';

const CUT_SHORT = 'The body ended before its announced length.';

interface BodyBounds {
  maxBytes: number;
  /**
   * Reserves memory: for the whole body if it has a Content-Length, else for each chunk. Returns false if there is no memory. Reading
   * pauses while a promise is pending.
   */
  reserveBytes?: (bytes: number) => boolean | Promise<boolean>;
}

/**
 * Reads the exact bytes of a body; an absent body is empty. A rejection is reported immediately; the rest of the body is read and
 * discarded, so that the sender stays connected to receive the reply.
 *
 * @param done called once, with the body or with the {Problem} `payload_too_large`, `overloaded` if there is no memory for it, or
 * `malformed_body` if it ends before its announced length.
 */
export function readRawBody(
  request: IncomingMessage,
  { maxBytes, reserveBytes = () => true }: BodyBounds,
  done: (problem: Problem | null, body?: Buffer) => void,
): void {
  const announced = Number(request.headers['content-length'] ?? 0);
  let buffer: Buffer = Buffer.alloc(0);
  let size = 0;
  let isFinished = false;
  const finish = (problem: Problem | null) => {
    if (isFinished) return;
    isFinished = true;
    const body = buffer.subarray(0, size);
    buffer = Buffer.alloc(0);
    if (problem) done(problem);
    else done(null, body);
  };
  const reject = () => finish(new Problem('payload_too_large', { detail: tooLarge(maxBytes) }));
  const reserve = (bytes: number, next: () => void) => {
    const proceed = (hasRoom: boolean) => {
      if (isFinished) return;
      if (hasRoom) next();
      else finish(new Problem('overloaded'));
    };
    const hasRoom = reserveBytes(bytes);
    if (typeof hasRoom === 'boolean') return proceed(hasRoom);
    request.pause();
    void hasRoom.then(proceed).then(() => request.resume());
  };
  const read = () => {
    request.on('data', (chunk: Buffer) => {
      if (isFinished) return;
      if (size + chunk.length > maxBytes) return reject();
      const add = () => {
        buffer = append(buffer, size, chunk, announced);
        size += chunk.length;
      };
      if (announced > 0) add();
      else reserve(chunk.length, add);
    });
    request.on('end', () => finish(null));
  };
  request.on('close', () => {
    if (!isFinished) finish(new Problem('malformed_body', { detail: CUT_SHORT }));
  });
  // If the connection broke before this point, no `close` event follows.
  if (request.destroyed) finish(new Problem('malformed_body', { detail: CUT_SHORT }));
  else if (announced > maxBytes) reject();
  else if (announced > 0) reserve(announced, read);
  else read();
  if (isFinished) request.resume();
}

/**
 * Uses the first chunk as it is; further chunks go to a buffer of the announced length, or one that doubles. A list of chunks would take
 * a hundred times the memory of a body that is sent byte by byte.
 *
 * @param announced the length of the whole body; 0 if unknown.
 */
function append(buffer: Buffer, size: number, chunk: Buffer, announced: number): Buffer {
  if (size === 0) return chunk;
  const needed = size + chunk.length;
  let target = buffer;
  if (needed > buffer.length) {
    target = Buffer.allocUnsafeSlow(announced || Math.max(needed, 2 * buffer.length));
    buffer.copy(target, 0, 0, size);
  }
  chunk.copy(target, size);
  return target;
}

function tooLarge(maxBytes: number): string {
  return `The body is over ${maxBytes} bytes, the most this service accepts.`;
}
