import {
  AuthorizationResponseError,
  allowInsecureRequests,
  authorizationCodeGrant,
  buildAuthorizationUrl,
  ClientSecretBasic,
  ClientSecretPost,
  Configuration,
  type CustomFetch,
  calculatePKCECodeChallenge,
  customFetch,
  discovery,
  enableNonRepudiationChecks,
  ResponseBodyError,
} from 'openid-client';
import { identityOfToken, type TokenIdentity } from './identity-of-token.ts';
import type { PendingSignIn } from './pending-sign-in.ts';
import { RejectedIdentity } from './rejected-identity.ts';
import { isSafeUrl, type OidcSettings } from './settings.ts';

/** The identity provider cannot be used: it is not reached, is too slow, or replies with an error or with something else than OpenID Connect. */
class ProviderUnavailableError extends Error {
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
const providerFetch: CustomFetch = async (url, { body, headers, method }) => {
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

const CACHE_MS = 60 * 60_000;

/** The provider's configuration, loaded when a sign-in needs it and it is older than an hour or the last attempt failed. */
type LoadProvider = () => Promise<Configuration>;

/**
 * @returns a function that throws `ProviderUnavailableError`. Concurrent calls share one request, so that many sign-ins do not flood a
 *   provider that is slow.
 */
function openProvider(settings: OidcSettings): LoadProvider {
  let loading: Promise<Configuration> | undefined;
  let expiresAt = 0;
  return () => {
    if (loading && performance.now() < expiresAt) return loading;
    expiresAt = performance.now() + CACHE_MS;
    const attempt: Promise<Configuration> = discover(settings).catch((cause: unknown) => {
      if (loading === attempt) loading = undefined;
      throw new ProviderUnavailableError('discovery failed', { cause });
    });
    loading = attempt;
    return attempt;
  };
}

async function discover({ OIDC_ISSUER, OIDC_CLIENT_ID, OIDC_CLIENT_SECRET }: OidcSettings): Promise<Configuration> {
  const isHttp = OIDC_ISSUER.startsWith('http:');
  const options = { [customFetch]: providerFetch, execute: isHttp ? [allowInsecureRequests] : [] };
  const found = await discovery(new URL(OIDC_ISSUER), OIDC_CLIENT_ID, undefined, undefined, options);
  const metadata = found.serverMetadata();
  // The library makes exceptions for issuers of Microsoft whose tokens come from any tenant.
  if (new URL(metadata.issuer).href !== new URL(OIDC_ISSUER).href) throw new Error('the issuer is another one');
  const methods = metadata.token_endpoint_auth_methods_supported ?? ['client_secret_basic'];
  const authenticate = methods.includes('client_secret_basic') ? ClientSecretBasic : ClientSecretPost;
  const client = new Configuration(metadata, OIDC_CLIENT_ID, undefined, authenticate(OIDC_CLIENT_SECRET));
  client[customFetch] = providerFetch;
  if (isHttp) allowInsecureRequests(client);
  // By default the library does not verify the signature of a token that comes from the token endpoint by TLS.
  enableNonRepudiationChecks(client);
  return client;
}

/** Codes of the library for a reply that is no reply of a provider, such as the page of a proxy. */
const NO_REPLY = new Set(['OAUTH_RESPONSE_IS_NOT_CONFORM', 'OAUTH_RESPONSE_IS_NOT_JSON', 'OAUTH_PARSE_ERROR']);
/** Errors by which the provider says that the person does not go on (OpenID Connect Core, section 3.1.2.6). */
const DECLINED = new Set([
  'access_denied',
  'login_required',
  'consent_required',
  'interaction_required',
  'account_selection_required',
]);

/** Turns an error of the library into the reason that the person is told. */
function rejectionOf(cause: unknown): RejectedIdentity {
  if (cause instanceof RejectedIdentity) return cause;
  if (isUnavailable(cause)) return new RejectedIdentity('unavailable', { cause });
  if (cause instanceof AuthorizationResponseError)
    return new RejectedIdentity(DECLINED.has(cause.error) ? 'cancelled' : 'unavailable', { cause });
  // `invalid_grant`: the code was used already, or has expired. Others, such as `invalid_client`, are the configuration's.
  if (cause instanceof ResponseBodyError)
    return new RejectedIdentity(cause.error === 'invalid_grant' ? 'expired' : 'unavailable', { cause });
  const { code } = cause as { code?: unknown };
  return new RejectedIdentity(NO_REPLY.has(String(code)) ? 'unavailable' : 'invalid', { cause });
}

function isUnavailable(error: unknown): boolean {
  return error instanceof ProviderUnavailableError || (Error.isError(error) && isUnavailable(error.cause));
}

/** The identity provider, by the authorization code flow with PKCE. */
export interface IdentityProvider {
  /** The provider's page for a sign-in. @throws {ProviderUnavailableError} */
  startUrl(pending: PendingSignIn): Promise<string>;
  /**
   * Exchanges the code for an ID token and verifies it. All tokens are dropped.
   *
   * @param query of the provider's redirect.
   * @throws {RejectedIdentity}
   */
  identityOf(query: URLSearchParams, pending: PendingSignIn): Promise<TokenIdentity>;
}

export function createIdentityProvider(settings: OidcSettings, redirectUri: string): IdentityProvider {
  const load = openProvider(settings);
  return {
    async startUrl({ state, nonce, verifier }) {
      const url = buildAuthorizationUrl(await load(), {
        redirect_uri: redirectUri,
        scope: 'openid email',
        state,
        nonce,
        code_challenge: await calculatePKCECodeChallenge(verifier),
        code_challenge_method: 'S256',
      });
      if (!isSafeUrl(url)) throw new ProviderUnavailableError('an endpoint without https');
      return url.href;
    },
    async identityOf(query, { state, nonce, verifier }) {
      try {
        const provider = await load();
        const tokens = await authorizationCodeGrant(provider, new URL(`${redirectUri}?${query}`), {
          pkceCodeVerifier: verifier,
          expectedState: state,
          expectedNonce: nonce,
          idTokenExpected: true,
        });
        const token = tokens.claims();
        if (!token) throw new Error('no ID token');
        return identityOfToken(token, settings.OIDC_EMAIL_DOMAINS);
      } catch (error) {
        throw rejectionOf(error);
      }
    },
  };
}
