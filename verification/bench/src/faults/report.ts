import { table } from '../report/tables.ts';
import { type Finding, type Kind, VIOLATIONS, type ViolationName } from './findings.ts';
import { type Round, renderCounts, sumCounts } from './round.ts';

/** All rounds of one fault. */
export interface Row {
  fault: string;
  injections: number;
  accepted: number;
  replayed: number;
  refused: Record<string, number>;
  cancellations: Record<string, number>;
  events: Record<string, number>;
  deliveries: Record<string, number>;
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
  const row: Row = {
    fault,
    injections: rounds.filter((round) => round.fault !== 'none').length,
    accepted: 0,
    replayed: 0,
    refused: sumCounts(rounds.map(({ refused }) => refused)),
    cancellations: sumCounts(rounds.map(({ cancellations }) => cancellations)),
    events: sumCounts(rounds.map(({ events }) => events)),
    deliveries: sumCounts(rounds.map(({ deliveries }) => deliveries)),
    violations: { lost: 0, doubled: 0, stuck: 0, other: 0 },
    recoverySeconds: rounds.length > 0 ? Math.max(...rounds.map((round) => round.recoverySeconds)) : Number.NaN,
    dispatchDelaySeconds: delays.length > 0 ? Math.max(...delays) : null,
  };
  for (const { accepted, replayed, findings } of rounds) {
    row.accepted += accepted;
    row.replayed += replayed;
    for (const { name } of findings) row.violations[VIOLATIONS[name].kind] += 1;
  }
  return row;
}

const renderNumber = (value = 0) => value.toLocaleString('en');

/** Formats the table of all faults and the violations. */
export function renderReport({ rows, total, violations, notRun }: Report): string {
  const cells = ({
    fault,
    injections,
    accepted,
    refused,
    cancellations,
    events,
    deliveries,
    violations: found,
    ...row
  }: Row) => [
    fault,
    String(injections),
    accepted.toLocaleString('en'),
    renderCounts(refused),
    renderCounts(cancellations),
    renderNumber(events.read),
    renderNumber(deliveries.delivered),
    renderNumber(deliveries.repeated),
    String(found.lost),
    String(found.doubled),
    String(found.stuck),
    String(found.other),
    `${row.recoverySeconds.toFixed(1)} s`,
    row.dispatchDelaySeconds === null ? '' : `${row.dispatchDelaySeconds.toFixed(1)} s`,
  ];
  const faults = table(
    [
      'fault',
      'injected',
      'accepted',
      'refused',
      'cancellations',
      'events',
      'delivered',
      'repeated',
      'lost',
      'doubled',
      'stuck',
      'other',
      'final after',
      'dispatched late by',
    ],
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
  return [
    faults,
    ...(reasons.length > 0 ? [reasons.join('\n')] : []),
    ...(found.length > 0 ? [found.join('\n')] : []),
  ].join('\n\n');
}
