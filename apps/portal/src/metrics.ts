import { Counter, createRegistry, Histogram, type Registry } from '@orders/runtime';

export interface PortalMetrics {
  registry: Registry;
  requests: Counter<'route' | 'status' | 'code'>;
  requestSeconds: Histogram<'route'>;
}

export function createMetrics(): PortalMetrics {
  const registry = createRegistry();
  const registers = [registry];
  return {
    registry,
    requests: new Counter({
      name: 'portal_requests_total',
      help: 'Requests by route, HTTP status and problem code',
      labelNames: ['route', 'status', 'code'],
      registers,
    }),
    requestSeconds: new Histogram({
      name: 'portal_request_seconds',
      help: 'Time from the head of a request to the end of its reply',
      labelNames: ['route'],
      buckets: [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10],
      registers,
    }),
  };
}
