import client from 'prom-client';
import { VERSION } from '../version.ts';

export type Registry = client.Registry;
export type { Counter, Histogram } from 'prom-client';

/** Of Node itself. Once per process, as their observers cannot be removed. */
const nodeMetrics = new client.Registry();

/** One registry per app, with Node's default metrics. */
export function createRegistry(): Registry {
  if (nodeMetrics.getMetricsAsArray().length === 0) client.collectDefaultMetrics({ register: nodeMetrics });
  const registry = new client.Registry();
  for (const metric of nodeMetrics.getMetricsAsArray()) registry.registerMetric(metric as unknown as client.Metric);
  return registry;
}

/** A value with its labels. */
type Sample<Label extends string> = readonly [labels: Record<Label, string>, value: number];

/** Makes the metrics of a registry, each by its name and its help. */
export function metricsOf(registry: Registry) {
  const registers = [registry];
  return {
    /**
     * @param labels their names or, if all values are known, their values: each series then starts at 0, as Prometheus sees no increase if one
     * starts with its first event.
     */
    counter<Label extends string = never>(
      name: string,
      help: string,
      labels: readonly Label[] | Record<Label, readonly string[]> = [],
    ): client.Counter<Label> {
      const values = labels as Record<Label, readonly string[]>;
      const labelNames = Array.isArray(labels) ? [...labels] : (Object.keys(values) as Label[]);
      const counter = new client.Counter<Label>({ name, help, labelNames, registers });
      if (!Array.isArray(labels)) for (const series of combinations(values)) counter.inc(series, 0);
      return counter;
    },

    /** @param buckets upper bounds. */
    histogram<Label extends string = never>(
      name: string,
      help: string,
      buckets: number[],
      labelNames: Label[] = [],
    ): client.Histogram<Label> {
      return new client.Histogram({ name, help, labelNames, buckets, registers });
    },

    /** @param read is called at each scrape. While its value is null the gauge is absent: a stale value, or 0, would mislead alerts and scaling. */
    gauge(name: string, help: string, read?: () => number | null | Promise<number | null>): client.Gauge<never> {
      async function collect(this: client.Gauge<never>): Promise<void> {
        const value = (await read?.()) ?? null;
        if (value === null) this.remove();
        else this.set(value);
      }
      return new client.Gauge({ name, help, registers, ...(read && { collect }) });
    },

    /** @param read is called at each scrape; a series that it does not return is absent. */
    gauges<Label extends string>(
      name: string,
      help: string,
      labelNames: Label[],
      read: () => Sample<Label>[] | Promise<Sample<Label>[]>,
    ): void {
      new client.Gauge<Label>({
        name,
        help,
        labelNames,
        registers,
        async collect() {
          const samples = await read();
          this.reset();
          for (const [labels, value] of samples) this.set(labels as Partial<Record<Label, string>>, value);
        },
      });
    },
  };
}

function combinations<Label extends string>(values: Record<Label, readonly string[]>): Record<Label, string>[] {
  let all = [{}];
  for (const [label, options] of Object.entries<readonly string[]>(values))
    all = all.flatMap((labels) => options.map((value) => ({ ...labels, [label]: value })));
  return all as Record<Label, string>[];
}

/** Exposes the version of a process and the source revision it was built from. */
export function exposeBuildInfo(registry: Registry, revision: string): void {
  metricsOf(registry).gauges(
    'orders_build_info',
    'Version and revision, in the labels',
    ['version', 'revision'],
    () => [[{ version: VERSION, revision }, 1]],
  );
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
  const { gauges } = metricsOf(registry);
  const states = () => Object.entries(pools).map(([pool, read]) => ({ pool, ...read() }));
  gauges('postgres_pool_connections', 'Connections to Postgres that the pool holds', ['pool', 'state'], () =>
    states().flatMap(({ pool, busy, idle }) => [
      [{ pool, state: 'busy' }, busy],
      [{ pool, state: 'idle' }, idle],
    ]),
  );
  gauges('postgres_pool_size', 'Connections to Postgres that the pool may hold', ['pool'], () =>
    states().map(({ pool, size }) => [{ pool }, size]),
  );
  gauges('postgres_pool_waiting', 'Statements and transactions that wait for a connection', ['pool'], () =>
    states().map(({ pool, waiting }) => [{ pool }, waiting]),
  );
}
