import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { expect, test } from '@jest/globals';

const PORTAL = resolve(import.meta.dirname, '..');
const read = (path: string) => readFileSync(resolve(PORTAL, path), 'utf8');

test.each(['en', 'ar'])('the sign-in page explains each rejection by the identity provider in %s', (language) => {
  const [, union = ''] =
    /export type RejectionReason =([^;]+);/.exec(read('src/sign-in/oidc/rejected-identity.ts')) ?? [];
  const reasons = [...union.matchAll(/\| '(\w+)'/g)].map(([, name]) => name);
  expect(reasons).toContain('bound_otherwise');
  const texts = JSON.parse(read(`page/src/locales/${language}/sign-in.json`)).identityProvider.rejected;
  expect(new Set(Object.keys(texts))).toEqual(new Set(reasons));
});
