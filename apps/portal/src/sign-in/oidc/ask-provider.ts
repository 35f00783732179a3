import { authorizationCodeGrant, buildAuthorizationUrl, calculatePKCECodeChallenge } from 'openid-client';
import { identityOfToken, type TokenIdentity } from './identity-of-token.ts';
import { openProvider } from './open-provider.ts';
import type { PendingSignIn } from './pending-sign-in.ts';
import { ProviderUnavailableError } from './provider-fetch.ts';
import { refusalOfError } from './refusal-of-error.ts';
import { isSafeUrl, type OidcSettings } from './settings.ts';

/** The identity provider, by the authorization code flow with PKCE. */
export interface IdentityProvider {
  /** The provider's page for a sign-in. @throws {ProviderUnavailableError} */
  startUrl(pending: PendingSignIn): Promise<string>;
  /**
   * Exchanges the code for an ID token and verifies it. All tokens are dropped.
   *
   * @param query of the provider's redirect.
   * @throws {RefusedIdentity}
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
        throw refusalOfError(error);
      }
    },
  };
}
