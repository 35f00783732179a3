import client from 'prom-client';
import { VERSION } from '../version.ts';

export type Registry = client.Registry;
export { Counter, Gauge, Histogram } from 'prom-client';

/** One registry per process (or test), with Node's default metrics. */
export function createRegistry(): Registry {
  const registry = new client.Registry();
  client.collectDefaultMetrics({ register: registry });
  return registry;
}

/** Exposes the version of a process and the source revision it was built from. */
export function exposeBuildInfo(registry: Registry, revision: string): void {
  const build = new client.Gauge({
    name: 'orders_build_info',
    help: 'Version and revision, in the labels',
    labelNames: ['version', 'revision'],
    registers: [registry],
  });
  build.set({ version: VERSION, revision }, 1);
}

interface PoolState {
  busy: number;
  idle: number;
  /** Statements and transactions that wait for a connection. */
  waiting: number;
  /** Max connections. */
  size: number;
}

/**
 * Exposes the current state of connection pools.
 *
 * @param pools by the value of the label `pool`.
 */
export function exposePools(registry: Registry, pools: Record<string, () => PoolState>): void {
  const registers = [registry];
  const states = () => Object.entries(pools).map(([pool, read]) => ({ pool, ...read() }));
  new client.Gauge({
    name: 'postgres_pool_connections',
    help: 'Connections to Postgres that the pool holds',
    labelNames: ['pool', 'state'],
    registers,
    collect() {
      for (const { pool, busy, idle } of states()) {
        this.set({ pool, state: 'busy' }, busy);
        this.set({ pool, state: 'idle' }, idle);
      }
    },
  });
  new client.Gauge({
    name: 'postgres_pool_size',
    help: 'Connections to Postgres that the pool may hold',
    labelNames: ['pool'],
    registers,
    collect() {
      for (const { pool, size } of states()) this.set({ pool }, size);
    },
  });
  new client.Gauge({
    name: 'postgres_pool_waiting',
    help: 'Statements and transactions that wait for a connection',
    labelNames: ['pool'],
    registers,
    collect() {
      for (const { pool, waiting } of states()) this.set({ pool }, waiting);
    },
  });
}
