import { constants } from 'node:zlib';
import compression from 'compression';
import type { RequestHandler } from 'express';

/** The window is most of Brotli's memory, 4 MiB by default; a larger one than 64 KiB does not shrink these responses further. */
const BROTLI_WINDOW_BITS = 16;

/** Upper bound, in bytes, of the memory that compressing one response takes in addition to the response. */
export const COMPRESSOR_BYTES = 1_048_576;

/**
 * Compresses responses of 1 KiB and more, except those with `NO_TRANSFORM`: the length of a compressed response leaks its content (BREACH).
 */
export function compressResponses(): RequestHandler {
  return compression({
    brotli: {
      params: {
        [constants.BROTLI_PARAM_QUALITY]: 4,
        [constants.BROTLI_PARAM_LGWIN]: BROTLI_WINDOW_BITS,
      },
    },
  });
}

/** Headers of a response that carries a secret. */
export const NO_TRANSFORM = { 'Cache-Control': 'no-store, no-transform' };
