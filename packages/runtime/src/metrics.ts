import client from 'prom-client';

export type Registry = client.Registry;
export { Counter, Gauge, Histogram } from 'prom-client';

/** A registry of its own for each process (or test), with Node's own figures in it. */
export function createRegistry(): Registry {
  const registry = new client.Registry();
  client.collectDefaultMetrics({ register: registry });
  return registry;
}
