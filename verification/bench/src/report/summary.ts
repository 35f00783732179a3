import { CEILING, OBVIOUS, OURS, PEER } from '../contestants.ts';
import { type Measurement, ROLES, type Role } from '../measure/measure.ts';
import { median } from '../measure/statistics.ts';
import { COMFORTABLE_LOAD, QUOTED_LOAD } from '../rounds.ts';

/** Medians over the rounds of one contestant under one load; NaN for missing values. */
export interface Row extends Omit<Measurement, 'refused' | 'reply' | 'written' | 'deadlocks'> {
  rounds: number;
  /** Min and max of the rounds. */
  ordersPerSecondSpread: [number, number];
  replyP50: number;
  replyP99: number;
  writtenP50: number;
  writtenP99: number;
}

/** A metric with a target. If `goal` is above `enough`, larger is better. */
export interface Target {
  what: string;
  value: number;
  enough: number;
  goal: number;
}

export interface Summary {
  rows: Row[];
  /** Ratios of end-to-end orders per second at 128 connections. */
  ratios: Record<string, number>;
  targets: Target[];
}

/** Summarizes the measurements by contestant and load, in their order. */
export function summarize(measurements: readonly Measurement[]): Summary {
  const groups = Map.groupBy(measurements, ({ load, contestant }) => `${load} ${contestant}`);
  const rows = [...groups.values()].map(rowOf);
  const find = (name: string, load: string) => rows.find((row) => row.contestant === name && row.load === load);
  const ratio = (name: string, other: string, load: string, figure: (row: Row) => number) =>
    divide(find(name, load), find(other, load), figure);
  const rate = (row: Row) => row.ordersPerSecond;
  const ratios = {
    'ours/obvious': ratio(OURS.name, OBVIOUS.name, QUOTED_LOAD, rate),
    'ours/ceiling': ratio(OURS.name, CEILING.name, QUOTED_LOAD, rate),
    'ours/peer': ratio(OURS.name, PEER.name, QUOTED_LOAD, rate),
  };
  const ours = find(OURS.name, QUOTED_LOAD);
  const toObvious = (load: string, figure: (row: Row) => number) => ratio(OURS.name, OBVIOUS.name, load, figure);
  const targets: Target[] = [
    { what: 'orders/s, ours ÷ obvious', value: ratios['ours/obvious'], enough: 11, goal: 13 },
    { what: 'orders/s, ours ÷ pg-boss', value: ratios['ours/peer'], enough: 3, goal: 5 },
    {
      what: 'backlog when the load ends, seconds',
      value: ours?.backlogSeconds ?? Number.NaN,
      enough: 1,
      goal: 0.2,
    },
    {
      what: 'one connection: p50 accepted to written, ours ÷ obvious',
      value: toObvious('1', (row) => row.writtenP50),
      enough: 1,
      goal: 0.5,
    },
    {
      what: 'one connection: p50 of the 202, ours ÷ obvious',
      value: toObvious('1', (row) => row.replyP50),
      enough: 0.5,
      goal: 0.4,
    },
    {
      what: `load ${COMFORTABLE_LOAD}: p99 of the 202, ours ÷ obvious`,
      value: toObvious(COMFORTABLE_LOAD, (row) => row.replyP99),
      enough: 0.8,
      goal: 0.4,
    },
    {
      what: `load ${COMFORTABLE_LOAD}: p99 accepted to written, ours ÷ obvious`,
      value: toObvious(COMFORTABLE_LOAD, (row) => row.writtenP99),
      enough: 1.2,
      goal: 0.8,
    },
    { what: 'WAL bytes per order', value: ours?.walBytesPerOrder ?? Number.NaN, enough: 2500, goal: 1700 },
  ];
  return { rows, ratios, targets: targets.filter(({ value }) => !Number.isNaN(value)) };
}

function divide(row: Row | undefined, other: Row | undefined, figure: (row: Row) => number): number {
  return row && other && row.faults.length === 0 && other.faults.length === 0
    ? figure(row) / figure(other)
    : Number.NaN;
}

function rowOf(group: readonly Measurement[]): Row {
  const [{ contestant, load }] = group as [Measurement];
  const middle = (figure: (measurement: Measurement) => number) => median(group.map(figure));
  const byRole = (figure: (measurement: Measurement) => Record<Role, number>) =>
    Object.fromEntries(ROLES.map((role) => [role, middle((one) => figure(one)[role])])) as Record<Role, number>;
  const rates = group.map(({ ordersPerSecond }) => ordersPerSecond);
  return {
    contestant,
    load,
    rounds: group.length,
    faults: group.flatMap(({ faults }) => faults),
    accepted: middle((one) => one.accepted),
    acceptedPerSecond: middle((one) => one.acceptedPerSecond),
    ordersPerSecond: median(rates),
    ordersPerSecondSpread: [Math.min(...rates), Math.max(...rates)],
    replyP50: middle((one) => one.reply.p50),
    replyP99: middle((one) => one.reply.p99),
    writtenP50: middle((one) => one.written.p50),
    writtenP99: middle((one) => one.written.p99),
    backlogSeconds: middle((one) => one.backlogSeconds),
    cpuSecondsPer1000: byRole((one) => one.cpuSecondsPer1000),
    memoryMiB: byRole((one) => one.memoryMiB),
    walBytesPerOrder: middle((one) => one.walBytesPerOrder),
    walPageImageBytesPerOrder: middle((one) => one.walPageImageBytesPerOrder),
    redisCommandsPerOrder: middle((one) => one.redisCommandsPerOrder),
  };
}
