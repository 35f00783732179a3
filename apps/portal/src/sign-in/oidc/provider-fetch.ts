import type { CustomFetch } from 'openid-client';
import { isSafeUrl } from './settings.ts';

/** The identity provider cannot be used: it is not reached, is too slow, or replies with an error or with something else than OpenID Connect. */
export class ProviderUnavailableError extends Error {
  override name = 'ProviderUnavailableError';
}

/** From the request to the last byte of the reply. */
const TIMEOUT_MS = 5000;
/** Discovery documents, keys and tokens take some kilobytes; the keys of a large provider at most 50. */
const MAX_REPLY_BYTES = 262_144;

/**
 * `fetch` for calls to the identity provider: https only (http on the loopback), at most 5 seconds and 256 KiB. Redirects are not followed.
 *
 * @throws {ProviderUnavailableError} when there is no complete reply, of any status.
 */
export const providerFetch: CustomFetch = async (url, { body, headers, method }) => {
  if (!isSafeUrl(new URL(url))) throw new ProviderUnavailableError('an endpoint without https');
  const signal = AbortSignal.timeout(TIMEOUT_MS);
  try {
    const reply = await fetch(url, { method, headers, body: body ?? null, signal, redirect: 'manual' });
    return new Response(await readBounded(reply), { status: reply.status, headers: reply.headers });
  } catch (cause) {
    throw new ProviderUnavailableError('the provider did not answer', { cause });
  }
};

async function readBounded(reply: Response): Promise<Uint8Array<ArrayBuffer>> {
  const chunks: Uint8Array[] = [];
  let length = 0;
  // Leaving the loop by an exception cancels the rest of the body.
  for await (const chunk of reply.body ?? []) {
    length += chunk.length;
    if (length > MAX_REPLY_BYTES) throw new Error('a reply that is too long');
    chunks.push(chunk);
  }
  return new Uint8Array(Buffer.concat(chunks, length));
}
