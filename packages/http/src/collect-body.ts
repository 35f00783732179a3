import type { IncomingMessage } from 'node:http';
import { Problem } from '@orders/domain';

const CUT_SHORT = 'The body ended before its announced length.';

/** What bounds a body. */
interface BodyBounds {
  maxBytes: number;
  /** Is asked for the bytes of each chunk; false when there is no room for them. */
  take?: (bytes: number) => boolean;
}

/**
 * Reads the exact bytes of a body; an absent body is empty. One that is refused is refused as soon as that is known; the rest of it is
 * read and thrown away, so that its sender is still there to receive the reply.
 *
 * @param done is called once, with the body or else with the {Problem} `payload_too_large`, `overloaded` when there is no room for it, or
 * `malformed_body` when it ends before its announced length.
 */
export function collectBody(
  request: IncomingMessage,
  { maxBytes, take = () => true }: BodyBounds,
  done: (problem: Problem | null, body?: Buffer) => void,
): void {
  let chunks: Buffer[] = [];
  let size = 0;
  let isOver = false;
  const finish = (problem: Problem | null) => {
    if (isOver) return;
    isOver = true;
    if (problem) {
      chunks = [];
      done(problem);
    } else done(null, Buffer.concat(chunks, size));
  };
  const refuse = () => finish(new Problem('payload_too_large', { detail: tooLarge(maxBytes) }));
  request.on('data', (chunk: Buffer) => {
    if (isOver) return;
    size += chunk.length;
    if (size > maxBytes) refuse();
    else if (take(chunk.length)) chunks.push(chunk);
    else finish(new Problem('overloaded'));
  });
  request.on('end', () => finish(null));
  request.on('close', () => {
    if (!isOver) finish(new Problem('malformed_body', { detail: CUT_SHORT }));
  });
  if (Number(request.headers['content-length']) > maxBytes) refuse();
  // One whose connection broke before this point tells nobody any more.
  if (request.destroyed) finish(new Problem('malformed_body', { detail: CUT_SHORT }));
}

function tooLarge(maxBytes: number): string {
  return `The body is over ${maxBytes} bytes, the most this service accepts.`;
}
