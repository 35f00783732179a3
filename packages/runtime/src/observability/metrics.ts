import client from 'prom-client';
import { VERSION } from '../version.ts';

export type Registry = client.Registry;
export { Counter, Gauge, Histogram } from 'prom-client';

/** A registry of its own for each process (or test), with Node's own figures in it. */
export function createRegistry(): Registry {
  const registry = new client.Registry();
  client.collectDefaultMetrics({ register: registry });
  return registry;
}

/** Shows which version a process runs, and from which revision of its sources it was built. */
export function exposeBuildInfo(registry: Registry, revision: string): void {
  const build = new client.Gauge({
    name: 'orders_build_info',
    help: 'Version and revision, in the labels',
    labelNames: ['version', 'revision'],
    registers: [registry],
  });
  build.set({ version: VERSION, revision }, 1);
}

/** What a pool of connections tells of itself. */
interface PoolState {
  busy: number;
  idle: number;
  /** Who waits for a connection. */
  waiting: number;
  /** Connections that it may hold. */
  size: number;
}

/**
 * Shows pools of connections to Postgres as they are when the metrics are read.
 *
 * @param pools by the name that each has as its label.
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
