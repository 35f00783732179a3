import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { freePort } from '@orders/test-services/ports.ts';
import { until } from '@orders/test-services/until.ts';
import { stringify } from 'yaml';
import type { Api } from '../harness/api.ts';
import { makeDirectory } from '../harness/directory.ts';
import { describeWith } from '../harness/programs.ts';
import { type RuleFile, type RunningPrometheus, readRuleFile, startPrometheus } from '../harness/prometheus.ts';
import { QUEUE_KIND } from '../harness/queue.ts';
import { useStack } from '../harness/use-stack.ts';

/** The scrape interval in this test in seconds. A range has several of them. */
const SCRAPE = 1;
const RANGE = '6s';
const FOR = '2s';

/** The rules with seconds in place of minutes. */
function hurried(file: RuleFile): RuleFile {
  const groups = file.groups.map(({ name, rules }) => ({
    name,
    rules: rules.map((rule) => ({
      ...rule,
      expr: rule.expr.replace(/\[\w+\]/g, `[${RANGE}]`),
      ...(rule.for && { for: FOR }),
    })),
  }));
  return { groups };
}

describeWith('prometheus')('a real Prometheus', () => {
  let prometheus: RunningPrometheus;
  let api: Api;
  let ports: { intake: number; worker: number };
  const closes: (() => Promise<void>)[] = [];

  const { stack, knex, account } = useStack({ queue: QUEUE_KIND, account: true });

  beforeAll(async () => {
    ports = { intake: await freePort(), worker: await freePort() };
    ({ api } = await stack.intake({ ADMIN_PORT: String(ports.intake) }));
    const directory = makeDirectory();
    await writeFile(join(directory, 'alerts.yml'), stringify(hurried(readRuleFile())));
    const config = {
      global: { scrape_interval: `${SCRAPE}s`, scrape_timeout: `${SCRAPE}s`, evaluation_interval: '500ms' },
      rule_files: ['alerts.yml'],
      scrape_configs: Object.entries(ports).map(([app, port]) => ({
        job_name: `orders-${app}`,
        static_configs: [{ targets: [`127.0.0.1:${port}`] }],
      })),
    };
    await writeFile(join(directory, 'prometheus.yml'), stringify(config));
    prometheus = await startPrometheus(join(directory, 'prometheus.yml'));
    closes.push(prometheus.close);
  });
  afterAll(async () => {
    for (const close of closes.reverse()) await close();
  });

  const startWorker = () => stack.worker({ ADMIN_PORT: String(ports.worker) });
  /** Those of the given alerts that fire. */
  const firing = async (...names: string[]) => {
    const alerts = await prometheus.alerts();
    return names.filter((name) => alerts[name] === 'firing');
  };

  /** On a busy machine a scrape may be late, and a value is absent for a moment. */
  const untilItSays = (expression: string, value: number) =>
    until(`${expression} is ${value}`, async () => (await prometheus.ask(expression))[0] === value);

  test('fires paging alerts when workers are gone and orders wait, and resolves them when they are back', async () => {
    const pages = ['NothingWritten', 'OrdersWaitTooLong'];
    const worker = await startWorker();
    await api.order(account, { source_order_id: 'before' });
    await untilItSays('worker_receipts_total{outcome="written"}', 1);
    await until('both are scraped', async () => {
      const targets = await prometheus.targets();
      return targets['orders-intake'] === 'up' && targets['orders-worker'] === 'up';
    });
    expect(await firing(...pages)).toEqual([]);

    await worker.close();
    for (const name of ['one', 'two', 'three']) await api.order(account, { source_order_id: name });
    // As if the orders had waited for ten minutes.
    await knex('receipts')
      .where({ state: 'received' })
      .update({ received_at: knex.raw("received_at - interval '10 min'") });
    await until('both pages fire', async () => (await firing(...pages)).length === pages.length);
    await untilItSays('max(orders_receipts_waiting)', 3);
    for (const name of pages) {
      const pending = `count_over_time(ALERTS{alertname="${name}",alertstate="pending"}[5m])`;
      expect((await prometheus.ask(pending))[0]).toBeGreaterThan(0);
    }

    await startWorker();
    await until('the pages are over', async () => {
      const alerts = await prometheus.alerts();
      return pages.every((name) => alerts[name] === undefined);
    });
    await untilItSays('max(orders_receipts_waiting)', 0);
    expect(await knex('orders').pluck('source_order_id')).toHaveLength(4);
  });
});
