import { constants } from 'node:zlib';
import compression from 'compression';
import type { RequestHandler } from 'express';

/** Of Brotli's memory most is its window, 4 MiB by default; replies gain nothing from more than this. */
const BROTLI_WINDOW_BITS = 16;

/** An upper bound of what compressing one reply takes beside the reply, in bytes. */
export const COMPRESSOR_BYTES = 1_048_576;

/**
 * Compresses replies of 1 KiB and more. One that carries a secret says `Cache-Control: no-transform` and is left as it is: the length of a
 * compressed reply tells about what is in it (BREACH).
 */
export function compressReplies(): RequestHandler {
  return compression({
    brotli: {
      params: {
        [constants.BROTLI_PARAM_QUALITY]: 4,
        [constants.BROTLI_PARAM_LGWIN]: BROTLI_WINDOW_BITS,
      },
    },
  });
}

/** Marks a reply that carries a secret. */
export const NO_TRANSFORM = { 'Cache-Control': 'no-store, no-transform' };
