import { expect, test } from '@jest/globals';
import { readConfig } from '../src/config.ts';

const REQUIRED = {
  DATABASE_URL: 'postgres://orders@127.0.0.1/orders',
  SECRETS_KEY: Buffer.alloc(32, 1).toString('base64'),
};
const read = (settings: Record<string, string>) => readConfig({ ...REQUIRED, ...settings });

test('without settings, events are delivered to public addresses alone, without a proxy', () => {
  const { CALLBACK_ALLOW, CALLBACK_DENY, CALLBACK_DNS, CALLBACK_PROXY, CALLBACK_RATE } = read({});
  expect({ CALLBACK_ALLOW, CALLBACK_DENY, CALLBACK_DNS }).toEqual({
    CALLBACK_ALLOW: [],
    CALLBACK_DENY: [],
    CALLBACK_DNS: [],
  });
  expect(CALLBACK_PROXY).toBeUndefined();
  expect(CALLBACK_RATE).toBe(50);
});

test('lists are read', () => {
  expect(
    read({
      CALLBACK_ALLOW: 'Hooks.internal:8443, 10.1.2.3:*,[::1]',
      CALLBACK_DENY: '203.0.113.7, 198.51.100.0/24,2001:db8::/32',
      CALLBACK_DNS: '10.0.0.2, [::1]:5353',
    }),
  ).toMatchObject({
    CALLBACK_ALLOW: ['hooks.internal:8443', '10.1.2.3:*', '[::1]'],
    CALLBACK_DENY: ['203.0.113.7', '198.51.100.0/24', '2001:db8::/32'],
    CALLBACK_DNS: ['10.0.0.2', '[::1]:5353'],
  });
});

test.each([
  ['CALLBACK_ALLOW', 'http://hooks.internal'],
  ['CALLBACK_ALLOW', 'hooks.internal:'],
  ['CALLBACK_ALLOW', '*:8443'],
  ['CALLBACK_DENY', '203.0.113.0/33'],
  ['CALLBACK_DENY', 'hooks.internal'],
  ['CALLBACK_DENY', '010.0.0.1'],
  ['CALLBACK_DENY', '203.0.113.7,'],
  ['CALLBACK_DNS', 'dns.internal'],
  ['CALLBACK_PROXY', 'proxy.internal:3128'],
  ['CALLBACK_PROXY', 'http://user:%FF@proxy.internal:3128'],
  ['NOTIFIER_CONCURRENCY', '1'],
])('%s cannot be %s', (name, value) => {
  expect(() => read({ [name]: value })).toThrow(new RegExp(`^Configuration: ${name} must be [^\\n]+$`));
});
