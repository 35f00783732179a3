import { describe, expect, test } from '@jest/globals';
import { readConfig } from '../src/config.ts';

const BASE = {
  DATABASE_URL: 'postgres://127.0.0.1/orders',
  QUEUE_URL: 'redis://127.0.0.1',
  SECRETS_KEY: Buffer.alloc(32).toString('base64'),
  PORTAL_URL: 'https://portal.example.com',
  INTAKE_URL: 'https://orders.example.com',
};
const PROVIDER = {
  OIDC_ISSUER: 'https://id.example.com/realms/shop',
  OIDC_CLIENT_ID: 'portal',
  OIDC_CLIENT_SECRET: 'a secret',
  OIDC_NAME: 'Example ID',
  OIDC_EMAIL_DOMAINS: 'Example.com, example.org',
};

test.each(['http://portal.example.com', 'http://10.0.0.1:8081', 'http://127.0.0.1.example.com'])(
  'the portal cannot be at %s, where cookies could be read on the way',
  (PORTAL_URL) => {
    expect(() => readConfig({ ...BASE, PORTAL_URL })).toThrow('Configuration: PORTAL_URL must be https, or a loopback');
  },
);

describe('the identity provider', () => {
  test('is configured by all settings, or none', () => {
    expect(readConfig({ ...BASE, ...PROVIDER })).toMatchObject({
      ...PROVIDER,
      OIDC_EMAIL_DOMAINS: ['example.com', 'example.org'],
    });
    expect(readConfig(BASE).OIDC_ISSUER).toBeUndefined();
  });

  test.each(['OIDC_CLIENT_ID', 'OIDC_CLIENT_SECRET', 'OIDC_NAME', 'OIDC_EMAIL_DOMAINS'])('needs %s', (name) => {
    expect(() => readConfig({ ...BASE, ...PROVIDER, [name]: '' })).toThrow(`Configuration: ${name} is required.`);
  });

  test('needs its issuer', () => {
    expect(() => readConfig({ ...BASE, OIDC_NAME: 'Example ID' })).toThrow(
      'Configuration: OIDC_NAME is of no use without OIDC_ISSUER.',
    );
  });

  test.each([
    'http://localhost:8080',
    'http://127.0.0.1:8080/realms/a',
    'http://[::1]:8080',
    'https://id.example.com/',
  ])('may be at %s', (OIDC_ISSUER) => {
    expect(readConfig({ ...BASE, ...PROVIDER, OIDC_ISSUER }).OIDC_ISSUER).toBe(OIDC_ISSUER);
  });

  test.each([
    'http://id.example.com',
    'http://localhost.example.com',
    'ftp://id.example.com',
    'id.example.com',
    'https://user:password@id.example.com',
    'https://id.example.com/?tenant=1',
    'https://id.example.com/#a',
  ])('is not at %s', (OIDC_ISSUER) => {
    expect(() => readConfig({ ...BASE, ...PROVIDER, OIDC_ISSUER })).toThrow(
      'OIDC_ISSUER must be an https URL without user, query and fragment; http is for the loopback only',
    );
  });

  test.each(['*', '*.example.com', 'example', '@example.com', 'example.com,', 'a@example.com'])(
    'cannot vouch for the domain %s',
    (OIDC_EMAIL_DOMAINS) => {
      expect(() => readConfig({ ...BASE, ...PROVIDER, OIDC_EMAIL_DOMAINS })).toThrow(
        'OIDC_EMAIL_DOMAINS must be a list of domains such as example.com,example.org',
      );
    },
  );

  test('has a name of one line', () => {
    expect(() => readConfig({ ...BASE, ...PROVIDER, OIDC_NAME: 'a\nb' })).toThrow('OIDC_NAME must be one line');
  });
});
