import type { Router } from 'express';
import type { RouteRule } from './permissions.ts';

/** Routes of the API with the path below which they are mounted. */
export interface Mount {
  path: string;
  router: Router;
}

/**
 * Compares the rules with the routes that Express has, so that no route is without a rule, and no rule without a route.
 *
 * @throws with a list of the differences.
 */
export function checkRoutes(rules: readonly RouteRule[], mounts: readonly Mount[]): void {
  const ruled = new Set(rules.map(({ method, path }) => `${method} ${path}`));
  const registered = new Set(mounts.flatMap(({ path, router }) => listRoutes(path, router)));
  const differences = [
    ...[...registered].filter((route) => !ruled.has(route)).map((route) => `without a rule: ${route}`),
    ...[...ruled].filter((route) => !registered.has(route)).map((route) => `without a route: ${route}`),
  ];
  if (differences.length > 0) throw new Error(`the rules and the routes differ: ${differences.join(', ')}`);
}

/** Routers inside of a mounted one have no path of their own. */
function listRoutes(path: string, router: Router): string[] {
  return router.stack.flatMap((layer) => {
    if (!layer.route) return 'stack' in layer.handle ? listRoutes(path, layer.handle as unknown as Router) : [];
    const full = path + (layer.route.path === '/' ? '' : layer.route.path);
    return layer.route.stack.map(({ method }) => `${method} ${full}`);
  });
}
