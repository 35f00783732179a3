import { readFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { expect, test } from '@jest/globals';
import { stringify } from 'yaml';
import { makeDirectory } from '../harness/directory.ts';
import { describeWith } from '../harness/programs.ts';
import { promtool, unknownSeriesIn } from '../harness/prometheus.ts';

interface Panel {
  id: number;
  type: string;
  title: string;
  description?: string;
  datasource?: { uid: string };
  gridPos: { x: number; y: number; w: number; h: number };
  targets?: { expr: string; datasource: { uid: string } }[];
}

const path = resolve(import.meta.dirname, '../../deploy/grafana/dashboard.json');
const dashboard = JSON.parse(readFileSync(path, 'utf8')) as {
  schemaVersion: number;
  templating: { list: { name: string; type: string }[] };
  annotations: { list: { expr?: string }[] };
  panels: Panel[];
};
const panels = dashboard.panels.filter(({ type }) => type !== 'row');
const expressions = [
  ...panels.flatMap(({ targets = [] }) => targets.map(({ expr }) => expr)),
  ...dashboard.annotations.list.flatMap(({ expr }) => expr ?? []),
].map((expr) => expr.replaceAll('$__rate_interval', '1m'));

test('the dashboard follows the path of an order, and each panel explains its normal state and what to do', () => {
  const rows = dashboard.panels.filter(({ type }) => type === 'row').map(({ title }) => title);
  expect(rows).toEqual(['The way of an order', 'Intake', 'Worker', 'Notifier', 'Queue', 'Postgres pools', 'Processes']);
  expect(panels.filter(({ description }) => !/\*\*Normal:\*\*|above over time/.test(description ?? ''))).toEqual([]);
  expect(new Set(dashboard.panels.map(({ id }) => id)).size).toBe(dashboard.panels.length);
});

test('the Prometheus data source can be chosen', () => {
  expect(dashboard.templating.list[0]).toMatchObject({ name: 'datasource', type: 'datasource' });
  const sources = panels.flatMap(({ datasource, targets = [] }) => [
    datasource,
    ...targets.map((one) => one.datasource),
  ]);
  const uids = new Set(sources.map((source) => source?.uid));
  expect([...uids]).toEqual([expect.stringMatching(/^\$\{datasource\}$/)]);
});

test('the namespaces can be chosen, and each query is limited to them', () => {
  expect(dashboard.templating.list[1]).toMatchObject({ name: 'namespace', includeAll: true, allValue: '.*' });
  const selectors = expressions.map((expr) => expr.match(/[a-z]\w*(?=\{)/gi)?.length ?? 0);
  expect(expressions.map((expr) => expr.split('namespace=~"$namespace"').length - 1)).toEqual(selectors);
  expect(selectors).not.toContain(0);
});

test('no panel overlaps another or exceeds the width', () => {
  const overlaps = dashboard.panels.filter(({ id, gridPos: a }) =>
    dashboard.panels.some(
      ({ id: other, gridPos: b }) =>
        id < other && a.x < b.x + b.w && b.x < a.x + a.w && a.y < b.y + b.h && b.y < a.y + a.h,
    ),
  );
  expect(overlaps.map(({ title }) => title)).toEqual([]);
  expect(panels.filter(({ gridPos: { x, w } }) => x + w > 24)).toEqual([]);
});

test('it queries only existing series', () => {
  expect(expressions.length).toBeGreaterThan(30);
  expect(unknownSeriesIn(expressions)).toEqual([]);
});

describeWith('promtool')('by promtool', () => {
  test('each of its queries is valid PromQL', async () => {
    const directory = makeDirectory();
    const file = join(directory, 'queries.yml');
    const rules = expressions.map((expr, index) => ({ record: `query_${index}`, expr }));
    await writeFile(file, stringify({ groups: [{ name: 'queries', rules }] }));
    const checked = await promtool('check', 'rules', file);
    expect(checked).toEqual({ ok: true, text: expect.stringContaining(`${expressions.length} rules found`) });
  });
});
