import { describe, expect, test } from '@jest/globals';
import type express from 'express';
import { Router } from 'express';
import { checkRoutes } from '../src/check-routes.ts';
import { ROUTES, type RouteRule } from '../src/permissions.ts';

const nameOf = ({ method, path }: RouteRule) => `${method} ${path}`;

/** The portal compares them when it starts. */
describe('the comparison of rules and routes', () => {
  const handler: express.RequestHandler = (_request, response) => void response.end();
  const inner = Router();
  inner.get('/', handler);
  inner.post('/secret', handler);
  const router = Router();
  router.use(inner);
  const mounts = [{ path: '/things', router }];
  const rule = (method: 'get' | 'post', path: string) => ({ method, path, who: 'public' }) as const;

  test('passes if there is a rule for each route', () => {
    checkRoutes([rule('get', '/things'), rule('post', '/things/secret')], mounts);
  });

  test.each([
    ['a rule', [rule('get', '/things')], 'without a rule: post /things/secret'],
    [
      'a route',
      ['get', 'post'].flatMap((method) => [rule(method as 'get', '/things/secret')]),
      'without a route: get /things/secret',
    ],
  ])('fails without %s', (_, rules, difference) => {
    expect(() => checkRoutes(rules, mounts)).toThrow(difference);
  });
});

test('each route has one rule, and rules that match the same request are equal', () => {
  const names = ROUTES.map(nameOf);
  expect(names).toEqual([...new Set(names)]);
  const pattern = (path: string) => new RegExp(`^${path.replace(/:\w+/g, '[^/]+')}$`);
  const ruleOf = ({ who, recent, withoutSecondFactor }: RouteRule) => ({ who, recent, withoutSecondFactor });
  for (const one of ROUTES)
    for (const other of ROUTES) {
      if (one === other || one.method !== other.method || !pattern(one.path).test(other.path)) continue;
      expect([nameOf(other), ruleOf(other)]).toEqual([nameOf(other), ruleOf(one)]);
    }
});
