import { table } from '../tables.ts';
import { type Counts, renderCounts, sumCounts } from './counter.ts';
import { type Finding, type Kind, VIOLATIONS, type ViolationName } from './findings.ts';
import type { RequestCounts } from './load.ts';
import type { Round } from './round.ts';

/** All rounds of one fault. */
export interface Row extends Pick<Round, 'fault' | 'events' | 'deliveries' | keyof RequestCounts> {
  injections: number;
  violations: Record<Kind, number>;
  /** The maximum of the rounds; NaN without rounds. */
  recoverySeconds: number;
  /** The maximum of the rounds in which an order was due; null if there was none. */
  dispatchDelaySeconds: number | null;
}

/** A violation with some examples. */
export interface Violation {
  name: ViolationName;
  means: string;
  count: number;
  examples: string[];
}

export interface Report {
  rows: Row[];
  total: Row;
  violations: Violation[];
  /** Faults that could not be injected, and why. */
  notRun: { fault: string; why: string }[];
}

const EXAMPLES = 5;

export function report(rounds: readonly Round[], notRun: Report['notRun']): Report {
  const findings = rounds.flatMap((round) => round.findings);
  const violations = [...Map.groupBy(findings, ({ name }) => name)].map(([name, found]) => ({
    name,
    means: VIOLATIONS[name].means,
    count: found.length,
    examples: found.slice(0, EXAMPLES).map(exampleOf),
  }));
  const rows = [...Map.groupBy(rounds, ({ fault }) => fault)].map(([fault, group]) => rowOf(fault, group));
  return { rows, total: rowOf('all', rounds), violations, notRun };
}

function exampleOf({ id, detail }: Finding): string {
  return detail ? `${id}: ${detail}` : id;
}

function rowOf(fault: string, rounds: readonly Round[]): Row {
  const delays = rounds.flatMap(({ dispatchDelaySeconds }) => dispatchDelaySeconds ?? []);
  const sum = (read: (round: Round) => number) => rounds.reduce((total, round) => total + read(round), 0);
  const counts = (read: (round: Round) => Counts) => sumCounts(rounds.map(read));
  const violations = { lost: 0, doubled: 0, stuck: 0, other: 0 };
  for (const { name } of rounds.flatMap(({ findings }) => findings)) violations[VIOLATIONS[name].kind] += 1;
  return {
    fault,
    injections: rounds.filter((round) => round.fault !== 'none').length,
    accepted: sum((round) => round.accepted),
    replayed: sum((round) => round.replayed),
    refused: counts((round) => round.refused),
    cancellations: counts((round) => round.cancellations),
    events: counts((round) => round.events),
    deliveries: counts((round) => round.deliveries),
    longestPause: Math.max(0, ...rounds.map((round) => round.longestPause)),
    violations,
    recoverySeconds: rounds.length > 0 ? Math.max(...rounds.map((round) => round.recoverySeconds)) : Number.NaN,
    dispatchDelaySeconds: delays.length > 0 ? Math.max(...delays) : null,
  };
}

const renderNumber = (value = 0) => value.toLocaleString('en');
const renderSeconds = (value: number | null) => (value === null ? '' : `${value.toFixed(1)} s`);

const COLUMNS: [title: string, cell: (row: Row) => string][] = [
  ['fault', ({ fault }) => fault],
  ['injected', ({ injections }) => String(injections)],
  ['accepted', ({ accepted }) => renderNumber(accepted)],
  ['none accepted for', ({ longestPause }) => renderSeconds(longestPause)],
  ['refused', ({ refused }) => renderCounts(refused)],
  ['cancellations', ({ cancellations }) => renderCounts(cancellations)],
  ['events', ({ events }) => renderNumber(events.read)],
  ['delivered', ({ deliveries }) => renderNumber(deliveries.delivered)],
  ['repeated', ({ deliveries }) => renderNumber(deliveries.repeated)],
  ['lost', ({ violations }) => String(violations.lost)],
  ['doubled', ({ violations }) => String(violations.doubled)],
  ['stuck', ({ violations }) => String(violations.stuck)],
  ['other', ({ violations }) => String(violations.other)],
  ['final after', ({ recoverySeconds }) => renderSeconds(recoverySeconds)],
  ['dispatched late by', ({ dispatchDelaySeconds }) => renderSeconds(dispatchDelaySeconds)],
];

/** Formats the table of all faults and the violations. */
export function renderReport({ rows, total, violations, notRun }: Report): string {
  const cells = (row: Row) => COLUMNS.map(([, cell]) => cell(row));
  const faults = table(
    COLUMNS.map(([title]) => title),
    [
      ...rows.toSorted((a, b) => (a.fault < b.fault ? -1 : 1)).map(cells),
      ...notRun.map(({ fault }) => [fault, 'not run']),
      cells(total),
    ],
  );
  const reasons = notRun.map(({ fault, why }) => `${fault} was not run: ${why}.`);
  const found = violations.flatMap(({ name, means, count, examples }) => [
    `VIOLATED: ${name} (${count}): ${means}; for example`,
    ...examples.map((example) => `  ${example}`),
  ]);
  return [faults, reasons.join('\n'), found.join('\n')].filter(Boolean).join('\n\n');
}
