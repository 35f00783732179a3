import { readFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { anchorOf } from '@orders/doc-pages/render-page.ts';
import { freePort } from '@orders/test-services/ports.ts';
import { until } from '@orders/test-services/until.ts';
import { parse, stringify } from 'yaml';
import type { Api } from '../harness/api.ts';
import { makeDirectory } from '../harness/directory.ts';
import { describeWith } from '../harness/programs.ts';
import {
  PROMETHEUS_FILES,
  promtool,
  type Rule,
  type RuleFile,
  type RunningPrometheus,
  readRuleFile,
  rulesOf,
  startPrometheus,
  unknownSeriesIn,
} from '../harness/prometheus.ts';
import { QUEUE_KIND } from '../harness/queue.ts';
import { useStack } from '../harness/use-stack.ts';

const rules = rulesOf(readRuleFile());
const alerts = rules.filter((rule): rule is Rule & { alert: string } => rule.alert !== undefined);
const names = alerts.map(({ alert }) => alert);

describeWith('promtool')('the alert rules, by promtool', () => {
  test('are valid, and so is the example configuration for scraping', async () => {
    expect(await promtool('check', 'rules', 'alerts.yml')).toMatchObject({ ok: true });
    expect(await promtool('check', 'config', 'prometheus.yml')).toMatchObject({ ok: true });
  });

  test('fire exactly as alerts.test.yml expects', async () => {
    expect(await promtool('test', 'rules', 'alerts.test.yml')).toMatchObject({ ok: true });
  }, 600_000);
});

test('alerts.test.yml covers each alert both firing and silent', () => {
  type Check = { expr: string; exp_samples: unknown[] };
  const file = parse(readFileSync(join(PROMETHEUS_FILES, 'alerts.test.yml'), 'utf8'));
  const checks: Check[] = file.tests.flatMap((one: { promql_expr_test?: Check[] }) => one.promql_expr_test ?? []);
  const checked = (fires: boolean) =>
    names.filter((name) =>
      checks.some(({ expr, exp_samples }) => expr.includes(`alertname="${name}"`) && exp_samples.length > 0 === fires),
    );
  expect({ fire: checked(true), silent: checked(false) }).toEqual({ fire: names, silent: names });
});

test('each alert has a severity, a summary and a link to its runbook', () => {
  const page = readFileSync(resolve(import.meta.dirname, '../../docs/operating/alerts.md'), 'utf8');
  // In the same order as the rules, so that every rule has a section and every section a rule.
  expect([...page.matchAll(/^### (\w+)$/gm)].map(([, name]) => name)).toEqual(names);
  expect(new Set(names).size).toBe(names.length);
  for (const { alert, labels, annotations } of alerts) {
    expect({ alert, labels, annotations }).toEqual({
      alert,
      labels: { severity: expect.stringMatching(/^(page|ticket)$/) },
      annotations: {
        summary: expect.stringMatching(/^[A-Z].+[^.]$/),
        description: expect.stringMatching(/\.$/),
        runbook_url: `{{ $externalLabels.runbooks }}docs/operating/alerts.md#${anchorOf(alert)}`,
      },
    });
  }
});

test('no rule aggregates across cells', () => {
  const across = rules.filter(({ expr }) =>
    /(?<![\w:])(?:sum|max|min|avg|count)\b(?! by \(cluster, namespace[,)])/.test(expr),
  );
  expect(across.map(({ alert, record }) => alert ?? record)).toEqual([]);
});

test('rules and records name only existing series', () => {
  expect(unknownSeriesIn(rules.map(({ expr }) => expr))).toEqual([]);
});

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
