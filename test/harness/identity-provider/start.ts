import { randomBytes } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { exportJWK, generateKeyPair, type JWTPayload, SignJWT } from 'jose';
import Provider, { type Adapter, type AdapterPayload } from 'oidc-provider';
import { listen } from '../listen.ts';

/** Who signs in at the provider. */
export interface ProviderAccount {
  sub: string;
  email: string;
  email_verified: boolean;
  amr?: string[];
}

/** An ID token that the provider gives instead of its own. */
export type Forge = (claims: JWTPayload, sign: (claims: JWTPayload) => Promise<string>) => Promise<string>;

/** A provider of OpenID Connect on the loopback interface. */
export interface IdentityProvider {
  issuer: string;
  /** The portal's settings for it. */
  settings: { OIDC_CLIENT_SECRET: string } & Record<string, string>;
  /** The account as which the next person signs in; with null, they cancel. */
  account: ProviderAccount | null;
  /** Changes the ID tokens; undefined for the real ones. */
  forge: Forge | undefined;
  /** Replies to every request instead of the provider, which `proceed` asks. */
  fault: ((request: IncomingMessage, response: ServerResponse, proceed: () => void) => void) | undefined;
  /** The requests that reached it, as method and path. */
  requests: string[];
  /** Begins to work for this portal; until then it replies 503. */
  serve(portalUrl: string): void;
  close(): Promise<void>;
}

const CLIENT_ID = 'portal';

/**
 * Starts a provider that vouches for addresses at example.test.
 *
 * @param host `localhost` for a browser to which it is another site than the portal.
 */
export async function startIdentityProvider(host = '127.0.0.1'): Promise<IdentityProvider> {
  const secret = randomBytes(24).toString('hex');
  const { privateKey } = await generateKeyPair('RS256', { extractable: true });
  const jwk = { ...(await exportJWK(privateKey)), kid: 'one', alg: 'RS256', use: 'sig' };
  const sign = (claims: JWTPayload) =>
    new SignJWT(claims).setProtectedHeader({ alg: 'RS256', kid: 'one' }).sign(privateKey);
  let handle = (_request: IncomingMessage, response: ServerResponse): void => {
    response.writeHead(503).end();
  };
  const server = createServer((request, response) => {
    self.requests.push(`${request.method} ${request.url?.split('?')[0]}`);
    const proceed = () => handle(request, response);
    if (self.fault) self.fault(request, response, proceed);
    else proceed();
  });
  const { port, close } = await listen(server);
  const issuer = `http://${host}:${port}`;

  const self: IdentityProvider = {
    issuer,
    settings: {
      OIDC_ISSUER: issuer,
      OIDC_CLIENT_ID: CLIENT_ID,
      OIDC_CLIENT_SECRET: secret,
      OIDC_NAME: 'Example ID',
      OIDC_EMAIL_DOMAINS: 'example.test',
    },
    account: null,
    forge: undefined,
    fault: undefined,
    requests: [],
    serve(portalUrl) {
      const provider = new Provider(issuer, {
        adapter: memoryAdapter(),
        jwks: { keys: [jwk] },
        cookies: { keys: [secret] },
        clients: [
          {
            client_id: CLIENT_ID,
            client_secret: secret,
            redirect_uris: [`${portalUrl}/api/session/oidc/callback`],
          },
        ],
        claims: { openid: ['sub', 'amr', 'auth_time'], email: ['email', 'email_verified'] },
        conformIdTokenClaims: false,
        features: { devInteractions: { enabled: false } },
        interactions: { url: (_context, { uid }) => `/interaction/${uid}` },
        findAccount: async (_context, accountId) => ({ accountId, claims: async () => ({ ...self.account }) as never }),
        async loadExistingGrant({ oidc }) {
          const grant = new provider.Grant({ clientId: CLIENT_ID, accountId: oidc.session?.accountId ?? '' });
          grant.addOIDCScope('openid email');
          await grant.save();
          return grant;
        },
        ttl: { AccessToken: 600, AuthorizationCode: 600, Grant: 600, IdToken: 600, Interaction: 600, Session: 600 },
      });
      provider.use(async (context, next) => {
        await next();
        const { id_token } = (context.body ?? {}) as { id_token?: string };
        if (!id_token || !self.forge) return;
        const claims = JSON.parse(Buffer.from(id_token.split('.')[1] ?? '', 'base64url').toString());
        context.body = { ...(context.body as object), id_token: await self.forge(claims, sign) };
      });
      const callback = provider.callback();
      handle = (request, response) => {
        if (!request.url?.startsWith('/interaction/')) return void callback(request, response);
        const { account } = self;
        void provider.interactionFinished(
          request,
          response,
          account
            ? { login: { accountId: account.sub, remember: false, ...(account.amr && { amr: account.amr }) } }
            : { error: 'access_denied', error_description: 'cancelled' },
        );
      };
    },
    close,
  };
  return self;
}

/** Keeps what a provider stores; the provider's own adapter for this warns on the console. */
function memoryAdapter(): (name: string) => Adapter {
  const stored = new Map<string, AdapterPayload>();
  return (name) => {
    const keyOf = (id: string) => `${name}:${id}`;
    return {
      async upsert(id, payload) {
        stored.set(keyOf(id), payload);
      },
      find: async (id) => stored.get(keyOf(id)),
      findByUid: async (uid) => [...stored.values()].find((payload) => payload.uid === uid),
      findByUserCode: async () => undefined,
      async consume(id) {
        const payload = stored.get(keyOf(id));
        if (payload) payload.consumed = Math.floor(Date.now() / 1000);
      },
      async destroy(id) {
        stored.delete(keyOf(id));
      },
      async revokeByGrantId(grantId) {
        for (const [key, payload] of stored) if (payload.grantId === grantId) stored.delete(key);
      },
    };
  };
}
