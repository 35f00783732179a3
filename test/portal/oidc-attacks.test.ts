import { randomBytes } from 'node:crypto';
import { beforeEach, describe, expect, jest, test } from '@jest/globals';
import { exportJWK, generateKeyPair, SignJWT, UnsecuredJWT } from 'jose';
import type { Forge, IdentityProvider } from '../harness/identity-provider/start.ts';
import { type IdentityVisit, locationOf, openIdentityVisit } from '../harness/identity-provider/visit.ts';
import { useStack } from '../harness/use-stack.ts';

const { stack, knex, portal, provider, person } = useStack({ portal: true, provider: true, person: true });

beforeEach(async () => {
  const account = { sub: 'the-sub', email: person.email, email_verified: true };
  Object.assign(provider, { account, forge: undefined, fault: undefined, requests: [] });
  await knex('sign_in_attempts').delete();
  await knex('user_sessions').delete();
});

const EXPIRED = '/?identity_provider=expired';
const INVALID = '/?identity_provider=invalid';
const UNAVAILABLE = '/?identity_provider=unavailable';

const startAtProvider = async (visit: IdentityVisit) =>
  (await visit.atProvider(await visit.start())).slice(portal.url.length);
const askedFor = async (visit: IdentityVisit, path: string) => locationOf(portal, await visit.ask(path));
const sessions = async () => (await knex('user_sessions')).length;

describe('the callback refuses', () => {
  test('a state that this browser did not start with, without asking the provider', async () => {
    const [own, other] = [openIdentityVisit(portal), openIdentityVisit(portal)];
    const callback = await startAtProvider(other);
    await own.start();
    provider.requests = [];
    expect(await askedFor(own, callback)).toBe(EXPIRED);
    expect(await askedFor(openIdentityVisit(portal), callback)).toBe(EXPIRED);
    expect(await askedFor(openIdentityVisit(portal), '/api/session/oidc/callback')).toBe(EXPIRED);
    expect([await sessions(), provider.requests]).toEqual([0, []]);
  });

  test('a cookie that it did not set', async () => {
    const visit = openIdentityVisit(portal);
    for (const value of [
      '',
      '%',
      Buffer.from('{}').toString('base64url'),
      Buffer.from('no JSON').toString('base64url'),
    ]) {
      visit.cookies.set('orders.oidc', value);
      expect(await askedFor(visit, '/api/session/oidc/callback?code=1&state=2')).toBe(EXPIRED);
    }
  });

  test('to be repeated, without asking the provider again', async () => {
    const visit = openIdentityVisit(portal);
    const callback = await startAtProvider(visit);
    const cookies = new Map(visit.cookies);
    expect(await askedFor(visit, callback)).toBe('/');
    expect(visit.cookies.has('orders.oidc')).toBe(false);
    for (const [name, value] of cookies) visit.cookies.set(name, value);
    provider.requests = [];
    expect(await askedFor(visit, callback)).toBe(EXPIRED);
    expect([await sessions(), provider.requests]).toEqual([1, []]);
  });

  test('a code that the provider does not accept', async () => {
    const visit = openIdentityVisit(portal);
    const callback = await startAtProvider(visit);
    expect(await askedFor(visit, callback.replace(/code=[^&]+/, 'code=another'))).toBe(EXPIRED);
    expect(await sessions()).toBe(0);
  });

  test('a code that was issued to another browser', async () => {
    const [own, other] = [openIdentityVisit(portal), openIdentityVisit(portal)];
    const [mine, theirs] = [await startAtProvider(own), await startAtProvider(other)];
    const code = /code=[^&]+/.exec(theirs)?.[0] ?? '';
    // PKCE: the provider refuses the verifier.
    expect(await askedFor(own, mine.replace(/code=[^&]+/, code))).toBe(EXPIRED);
    expect(await sessions()).toBe(0);
  });

  test('a redirect that names another issuer, or none', async () => {
    const visit = openIdentityVisit(portal);
    const other = (await startAtProvider(visit)).replace(/iss=[^&]+/, 'iss=urn:another');
    expect(await askedFor(visit, other)).toBe(INVALID);
    const none = (await startAtProvider(visit)).replace(/&?iss=[^&]+/, '');
    expect(await askedFor(visit, none)).toBe(INVALID);
    expect(await sessions()).toBe(0);
  });

  test('more than fifty failures of one network', async () => {
    const visit = openIdentityVisit(portal);
    const callback = await startAtProvider(visit);
    await knex('sign_in_attempts').delete();
    const cookies = new Map(visit.cookies);
    for (let at = 0; at < 52; at++) {
      for (const [name, value] of cookies) visit.cookies.set(name, value);
      const location = await askedFor(visit, callback);
      if (at === 0) expect(location).toBe('/');
      else expect([at, location]).toEqual([at, at < 51 ? EXPIRED : '/?identity_provider=too_many_attempts']);
    }
  });
});

test.each([
  ['networks of /64 in one /56', 100, (at: number) => `2001:db8:0:12${at.toString(16).padStart(2, '0')}::1`],
  ['networks of /56 in one /48', 200, (at: number) => `2001:db8:0:${at.toString(16).padStart(2, '0')}00::1`],
  ['addresses in one /24', 200, (at: number) => `198.51.100.${at + 1}`],
])('the callback refuses more failures from many %s: %i', async (_, max, networkOf) => {
  const visit = openIdentityVisit(portal);
  const callbackFrom = async (network: string, isCode = false) => {
    const callback = await startAtProvider(visit);
    const path = isCode ? callback : callback.replace(/code=[^&]+/, 'code=another');
    return locationOf(portal, await visit.ask(path, undefined, { 'X-Forwarded-For': network }));
  };
  expect(await callbackFrom(networkOf(0))).toBe(EXPIRED);
  await knex('sign_in_attempts').update({ attempts: max - 1 });
  // A success is not counted.
  expect(await callbackFrom(networkOf(1), true)).toBe('/');
  expect(await callbackFrom(networkOf(2))).toBe(EXPIRED);
  expect(await callbackFrom(networkOf(3), true)).toBe('/?identity_provider=too_many_attempts');
  expect(await callbackFrom('192.0.2.1', true)).toBe('/');
});

describe('an ID token is refused', () => {
  const soon = () => Math.floor(Date.now() / 1000);
  const withClaims =
    (claims: object): Forge =>
    (own, sign) =>
      sign({ ...own, ...claims });
  const without =
    (name: string): Forge =>
    ({ [name]: _, ...claims }, sign) =>
      sign(claims);

  test.each<[string, Forge]>([
    ['for another nonce', withClaims({ nonce: 'another-nonce-of-another-sign-in' })],
    ['without a nonce', without('nonce')],
    ['from another issuer', withClaims({ iss: 'https://evil.example' })],
    ['without an issuer', without('iss')],
    ['for another client', withClaims({ aud: 'another-client' })],
    ['for several clients, authorized for another one', withClaims({ aud: ['portal', 'b'], azp: 'b' })],
    ['without a client', without('aud')],
    ['that has expired', async (own, sign) => sign({ ...own, iat: soon() - 7200, exp: soon() - 3600 })],
    ['that never expires', without('exp')],
    ['from the future', async (own, sign) => sign({ ...own, nbf: soon() + 3600 })],
    ['without a subject', without('sub')],
    ['with a subject that is no text', withClaims({ sub: 7 })],
    [
      'signed by another key',
      async (own) => {
        const { privateKey } = await generateKeyPair('RS256');
        return new SignJWT(own).setProtectedHeader({ alg: 'RS256', kid: 'one' }).sign(privateKey);
      },
    ],
    [
      'signed by a key that it brings along',
      async (own) => {
        const { privateKey, publicKey } = await generateKeyPair('RS256', { extractable: true });
        const jwk = await exportJWK(publicKey);
        return new SignJWT(own).setProtectedHeader({ alg: 'RS256', kid: 'two', jwk }).sign(privateKey);
      },
    ],
    [
      'signed with the secret of the client',
      async (own) =>
        new SignJWT(own).setProtectedHeader({ alg: 'HS256' }).sign(Buffer.from(provider.settings.OIDC_CLIENT_SECRET)),
    ],
    ['without a signature', async (own) => new UnsecuredJWT(own).encode()],
    [
      'whose claims were changed',
      async (own, sign) => {
        const [head, , signature] = (await sign(own)).split('.');
        const claims = Buffer.from(JSON.stringify({ ...own, sub: 'another' })).toString('base64url');
        return `${head}.${claims}.${signature}`;
      },
    ],
    ['that is none', async () => 'nonsense'],
  ])('%s', async (_which, forge) => {
    provider.forge = forge;
    expect(await openIdentityVisit(portal).signIn()).toBe(INVALID);
    expect(await sessions()).toBe(0);
  });

  test('that is missing', async () => {
    provider.forge = async () => '';
    expect(await openIdentityVisit(portal).signIn()).toBe(INVALID);
    expect(await sessions()).toBe(0);
  });
});

describe('while the provider', () => {
  /** Ends the time that the portal gives the request to the provider. */
  let endTime = () => {};
  test.each<[string, NonNullable<IdentityProvider['fault']>]>([
    ['is down', (_request, response) => response.destroy()],
    ['fails', (_request, response) => response.writeHead(500).end()],
    ['is behind a proxy that replies for it', (_request, response) => response.end('<html>')],
    [
      'redirects',
      (request, response, proceed) => {
        if (request.url?.includes('followed')) proceed();
        else response.writeHead(307, { Location: `${request.url}?followed` }).end();
      },
    ],
    ['does not answer', () => endTime()],
    [
      'sends without end',
      (_request, response) => {
        response.writeHead(200, { 'Content-Type': 'application/json' });
        response.write(`{"a": "${randomBytes(300_000).toString('hex')}`);
      },
    ],
  ])('%s, a sign-in says so, at the start and at the callback, and works again afterwards', async (_how, fault) => {
    const timeout = jest.spyOn(AbortSignal, 'timeout').mockImplementation(() => {
      const controller = new AbortController();
      endTime = () => controller.abort(new DOMException('too late', 'TimeoutError'));
      return controller.signal;
    });
    const other = await stack.portal(provider.settings);
    provider.serve(other.url);
    provider.fault = fault;
    const visit = openIdentityVisit(other);
    await expect(visit.start()).rejects.toThrow(/status 503: .*identity_provider_unavailable/);
    provider.fault = undefined;
    const callback = (await visit.atProvider(await visit.start())).slice(other.url.length);
    provider.fault = fault;
    expect(locationOf(other, await visit.ask(callback))).toBe(UNAVAILABLE);
    expect(await sessions()).toBe(0);
    provider.fault = undefined;
    expect(await visit.signIn()).toBe('/');
    expect(timeout).toHaveBeenCalledWith(5000);
    timeout.mockRestore();
    provider.serve(portal.url);
    await other.close();
  });
});
