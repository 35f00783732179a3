import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';
import { documentedMetrics, seriesOf } from './documented-metrics.ts';
import { PROMETHEUS_FILES } from './prometheus.ts';

export interface Rule {
  alert?: string;
  record?: string;
  expr: string;
  for?: string;
  labels?: Record<string, string>;
  annotations?: Record<string, string>;
}

export interface RuleFile {
  groups: { name: string; rules: Rule[] }[];
}

/** Reads the repository's file of alert rules. */
export function readRuleFile(): RuleFile {
  return parse(readFileSync(join(PROMETHEUS_FILES, 'alerts.yml'), 'utf8'));
}

/** The rules of all groups, in order. */
export function rulesOf(file: RuleFile): Rule[] {
  return file.groups.flatMap(({ rules }) => rules);
}

const TEXT = /"(?:[^"\\]|\\.)*"/g;
/** The parts of an expression without series names: matchers, durations, and label lists. */
const NO_NAMES = /\{[^}]*\}|\[[^\]]*\]|\b(?:by|without|on|ignoring|group_left|group_right)\s*\([^)]*\)/g;
const WORDS = new Set(['and', 'or', 'unless', 'offset', 'group_left', 'bool']);

/** The names of series in a PromQL expression: every word that is not a function, keyword or label. */
function seriesNamedIn(expression: string): string[] {
  const bare = expression.replace(TEXT, '').replace(NO_NAMES, ' ');
  return [...bare.matchAll(/(?<![\w:.])[a-zA-Z_:][\w:]*(?!\w|\s*\()/g)]
    .map(([word]) => word)
    .filter((word) => !WORDS.has(word));
}

/** Series of node-exporter and the kubelet about volumes. */
const VOLUMES = [
  'node_filesystem_avail_bytes',
  'node_filesystem_size_bytes',
  'kubelet_volume_stats_available_bytes',
  'kubelet_volume_stats_capacity_bytes',
];

/** The series that no process exposes and no rule records. */
export function unknownSeriesIn(expressions: readonly string[]): string[] {
  const recorded = rulesOf(readRuleFile()).flatMap(({ record }) => record ?? []);
  const known = new Set([...documentedMetrics().flatMap(seriesOf), ...recorded, ...VOLUMES, 'up', 'ALERTS']);
  return expressions.flatMap(seriesNamedIn).filter((name) => !known.has(name));
}
