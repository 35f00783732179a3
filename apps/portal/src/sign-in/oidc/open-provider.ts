import {
  allowInsecureRequests,
  ClientSecretBasic,
  ClientSecretPost,
  Configuration,
  customFetch,
  discovery,
  enableNonRepudiationChecks,
} from 'openid-client';
import { ProviderUnavailableError, providerFetch } from './provider-fetch.ts';
import type { OidcSettings } from './settings.ts';

const CACHE_MS = 60 * 60_000;

/** The provider's configuration, loaded when a sign-in needs it and it is older than an hour or the last attempt failed. */
export type LoadProvider = () => Promise<Configuration>;

/**
 * @returns a function that throws `ProviderUnavailableError`. Concurrent calls share one request, so that many sign-ins do not flood a
 *   provider that is slow.
 */
export function openProvider(settings: OidcSettings): LoadProvider {
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
