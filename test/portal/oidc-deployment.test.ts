import { beforeEach, describe, expect, test } from '@jest/globals';
import { locationOf, openIdentityVisit } from '../harness/identity-provider/visit.ts';
import { useStack } from '../harness/use-stack.ts';

const { stack, knex, portal, provider, person } = useStack({ portal: true, provider: true, person: true });

beforeEach(async () => {
  const account = { sub: 'the-sub', email: person.email, email_verified: true };
  Object.assign(provider, { account, forge: undefined, fault: undefined, requests: [] });
  provider.serve(portal.url);
  await knex('sign_in_attempts').delete();
});

const start = (url: string, headers: Record<string, string>) =>
  fetch(`${url}/api/session/oidc/start`, { method: 'POST', headers });

describe('a portal', () => {
  test('without a provider has no button and no such routes', async () => {
    const { url, close } = await stack.portal();
    expect(await (await fetch(`${url}/api/session/oidc`)).json()).toEqual({ name: null });
    expect((await start(url, { Origin: url })).status).toBe(404);
    expect((await fetch(`${url}/api/session/oidc/callback?code=1&state=2`)).status).toBe(404);
    await close();
  });

  test('says the name of the provider to everybody, and nothing else of it', async () => {
    expect(await (await fetch(`${portal.url}/api/session/oidc`)).json()).toEqual({ name: 'Example ID' });
  });

  test('starts no sign-in for a page of another origin', async () => {
    expect((await start(portal.url, { Origin: 'https://evil.example' })).status).toBe(403);
    expect(provider.requests).toEqual([]);
  });

  test('sends the exact redirect URI, a code challenge and a nonce', async () => {
    const { searchParams } = new URL(await openIdentityVisit(portal).start());
    expect(Object.fromEntries(searchParams)).toEqual({
      client_id: 'portal',
      redirect_uri: `${portal.url}/api/session/oidc/callback`,
      response_type: 'code',
      scope: 'openid email',
      state: expect.stringMatching(/^[\w-]{43}$/),
      nonce: expect.stringMatching(/^[\w-]{43}$/),
      code_challenge: expect.stringMatching(/^[\w-]{43}$/),
      code_challenge_method: 'S256',
    });
  });

  test('behind https keeps the sign-in in a cookie of this host alone', async () => {
    const address = 'https://portal.example.com';
    const { url, close } = await stack.portal({ ...provider.settings, PORTAL_URL: address });
    const reply = await start(url, { Origin: address });
    expect(reply.headers.getSetCookie()).toEqual([
      expect.stringMatching(
        /^__Host-orders\.oidc=[\w-]+; Max-Age=600; Path=\/; Expires=[^;]+; HttpOnly; Secure; SameSite=Lax$/,
      ),
    ]);
    expect(new URL(((await reply.json()) as { url: string }).url).searchParams.get('redirect_uri')).toBe(
      `${address}/api/session/oidc/callback`,
    );
    await close();
  });

  test('asks for the configuration once for many sign-ins', async () => {
    const other = await stack.portal(provider.settings);
    provider.requests = [];
    await Promise.all(Array.from({ length: 5 }, () => openIdentityVisit(other).start()));
    await openIdentityVisit(other).start();
    expect(provider.requests).toEqual(['GET /.well-known/openid-configuration']);
    await other.close();
  });

  test('shows its page, not a problem in JSON, when it fails itself', async () => {
    const visit = openIdentityVisit(portal);
    const callback = (await visit.atProvider(await visit.start())).slice(portal.url.length);
    await knex.raw('alter table sign_in_attempts rename to hidden');
    try {
      expect(locationOf(portal, await visit.ask(callback))).toBe('/?identity_provider=failed');
    } finally {
      await knex.raw('alter table hidden rename to sign_in_attempts');
    }
    expect(portal.log.lines.filter(({ level }) => level === 'error')).toEqual([
      expect.objectContaining({ message: 'request failed', code: 'internal_error' }),
    ]);
  });
});

describe('the configuration of the provider is refused', () => {
  const metadata = () => ({
    issuer: provider.issuer,
    authorization_endpoint: `${provider.issuer}/auth`,
    token_endpoint: `${provider.issuer}/token`,
    jwks_uri: `${provider.issuer}/jwks`,
    response_types_supported: ['code'],
    subject_types_supported: ['public'],
    id_token_signing_alg_values_supported: ['RS256'],
  });
  test.each<[string, object]>([
    ['for another issuer', { issuer: 'https://evil.example' }],
    ['for many tenants', { issuer: 'https://login.microsoftonline.com/{tenantid}/v2.0' }],
    ['with a page that is no web page', { authorization_endpoint: 'javascript:alert(1)' }],
    ['with a page without https', { authorization_endpoint: 'http://192.0.2.1/auth' }],
    ['without a page', { authorization_endpoint: undefined }],
    ['that is longer than any', { padding: 'x'.repeat(300_000) }],
  ])('%s', async (_which, change) => {
    const other = await stack.portal(provider.settings);
    provider.fault = (_request, response) =>
      response.writeHead(200, { 'Content-Type': 'application/json' }).end(JSON.stringify({ ...metadata(), ...change }));
    await expect(openIdentityVisit(other).start()).rejects.toThrow(/status 503/);
    await other.close();
  });

  test.each(['token_endpoint', 'jwks_uri'] as const)('with a %s without https', async (name) => {
    const other = await stack.portal(provider.settings);
    provider.serve(other.url);
    const visit = openIdentityVisit(other);
    provider.fault = (request, response) => {
      provider.fault = undefined;
      expect(request.url).toBe('/.well-known/openid-configuration');
      response.writeHead(200, { 'Content-Type': 'application/json' }).end(
        JSON.stringify({
          ...metadata(),
          authorization_response_iss_parameter_supported: true,
          // Without the check, the portal would call it.
          [name]: metadata()[name].replace('127.0.0.1', '0.0.0.0'),
        }),
      );
    };
    expect(await visit.signIn()).toBe('/?identity_provider=unavailable');
    await other.close();
  });
});

test('a failure is one line in the log besides that of the request, and nothing of a person or a token is logged', async () => {
  const other = await stack.portal(provider.settings);
  provider.serve(other.url);
  const visit = openIdentityVisit(other);
  expect(await visit.signIn()).toBe('/');
  provider.forge = (claims, sign) => sign({ ...claims, nonce: 'another-nonce' });
  expect(await visit.signIn()).toBe('/?identity_provider=invalid');
  provider.forge = undefined;
  provider.account = { sub: 'second-sub', email: person.email, email_verified: true };
  expect(await visit.signIn()).toBe('/?identity_provider=bound_otherwise');
  const callback = (await visit.atProvider(await visit.start())).slice(other.url.length);
  provider.fault = (_request, response) =>
    response
      .writeHead(401, { 'Content-Type': 'application/json' })
      .end(JSON.stringify({ error: 'invalid_client', error_description: person.email }));
  expect(locationOf(other, await visit.ask(callback))).toBe('/?identity_provider=unavailable');
  const warnings = other.log.lines.filter(({ level }) => level === 'warn' || level === 'error');
  expect(warnings).toEqual([
    expect.objectContaining({ message: 'reply of the identity provider rejected', level: 'warn' }),
    expect.objectContaining({
      message: 'identity provider unavailable',
      level: 'warn',
      provider_error: 'invalid_client',
      request_id: expect.any(String),
    }),
  ]);
  const codes = other.log.lines.filter(({ route }) => route === '/session/oidc/callback').map(({ code }) => code);
  expect(codes).toEqual([undefined, 'identity_invalid', 'identity_bound_otherwise', 'identity_unavailable']);
  const secrets = [
    person.email,
    'the-sub',
    'second-sub',
    provider.settings.OIDC_CLIENT_SECRET,
    'code=',
    'state=',
    'eyJ',
  ];
  expect(secrets.filter((secret) => secret && other.log.text().includes(secret))).toEqual([]);
  await other.close();
});
