import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { expect, test } from '@jest/globals';
import { anchorOf } from '@orders/doc-pages/render-page.ts';
import { parse } from 'yaml';
import { describeWith } from '../harness/programs.ts';
import {
  PROMETHEUS_FILES,
  promtool,
  type Rule,
  readRuleFile,
  rulesOf,
  unknownSeriesIn,
} from '../harness/prometheus.ts';

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
