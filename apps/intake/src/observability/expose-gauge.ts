import { Gauge, type Registry } from '@orders/runtime/observability/metrics.ts';

/** A gauge that is read at each scrape. It is absent while its value cannot be read: a stale value, or 0, would mislead alerts and scaling. */
export function exposeGauge(registry: Registry, name: string, help: string, read: () => Promise<number | null>): void {
  new Gauge({
    name,
    help,
    registers: [registry],
    async collect() {
      const value = await read();
      if (value === null) this.remove();
      else this.set(value);
    },
  });
}
