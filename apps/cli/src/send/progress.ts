import type { CliContext } from '../context.ts';
import { count, plural } from '../table.ts';
import type { Batch } from './cut-batches.ts';
import { isAccepted, type Result } from './journal-entries.ts';
import type { Input } from './read-input.ts';

/** Progress at a time (`performance.now()`). */
interface Sample {
  at: number;
  orders: number;
  /** Fraction of the input's bytes with a reply; null if the input's length is unknown. */
  fraction: number | null;
}

const TERMINAL_INTERVAL_MS = 100;
const FIRST_LINE_MS = 1_000;
const LINE_INTERVAL_MS = 5_000;
/** The rate covers this window. */
const WINDOW_MS = 10_000;
const BAR_WIDTH = 24;

/** The progress of a run. */
export type Progress = ReturnType<typeof showProgress>;

/** Counts what a run reads and sends, and shows it until closed: one updated line on a terminal, else a line every few seconds. */
export function showProgress(input: Input, stderr: CliContext['stderr']) {
  const { isTTY = false } = stderr;
  let wait: { until: number; why: string } | null = null;
  let followed: { known: number; accepted: number } | null = null;
  let run = newRun();
  // When this run started to send, as the speed is that of this run only.
  let from = sample();
  let samples = [from];

  function newRun() {
    const at = performance.now();
    return {
      startedAt: at,
      endedAt: at,
      read: 0,
      before: 0,
      replied: 0,
      refused: 0,
      bytes: 0,
      duplicates: new Map<number, number>(),
    };
  }

  /** The current progress, with the replies of all runs. */
  function sample(): Sample {
    return { at: performance.now(), orders: run.before + run.replied, fraction: fractionOf(run.bytes) };
  }

  function fractionOf(bytes: number): number | null {
    return input.size ? Math.min(1, bytes / input.size) : null;
  }

  function show(): void {
    if ((samples[0] as Sample).at < from.at) samples = [from];
    const now = sample();
    samples.push(now);
    while (samples.length > 2 && (samples[1]?.at ?? 0) <= now.at - WINDOW_MS) samples.shift();
    const line = lineOf(now);
    // One column shorter than the terminal, so that the cursor stays on the line.
    stderr.write(isTTY ? `\r${line.slice(0, (stderr.columns || 80) - 1)}\x1b[K` : `${line}\n`);
  }

  function lineOf(now: Sample): string {
    const waits = wait ? Math.ceil((wait.until - performance.now()) / 1000) : 0;
    const waiting = wait ? `; waits${waits > 0 ? ` ${waits} s` : ''}: ${wait.why}` : '';
    if (followed)
      return `${count(now.orders)} sent; ${count(followed.known)} of ${plural(followed.accepted, 'outcome')} known${waiting}`;
    const { fraction } = now;
    const { perSecond, secondsLeft } = speedOf(samples[0] as Sample, now);
    const bar = isTTY && fraction !== null ? `${barOf(fraction)} ` : '';
    const percent = fraction === null ? '' : `${Math.floor(fraction * 100)} % `;
    const left = secondsLeft === null || wait ? '' : `, ${timeOf(secondsLeft)} left`;
    const speed = `${count(Math.round(perSecond))}/s${left}`;
    return `${bar}${percent}${plural(now.orders, 'order')}, ${speed}, ${count(run.refused)} refused${waiting}`;
  }

  const timer = setInterval(show, isTTY ? TERMINAL_INTERVAL_MS : LINE_INTERVAL_MS);
  const first = isTTY ? undefined : setTimeout(show, FIRST_LINE_MS);
  return {
    /** Starts to read the input. */
    start(): void {
      run = newRun();
      from = sample();
    },
    /** Counts a batch that was read; `isKnown` if an earlier run got its results. */
    read({ orders, bytes }: Batch, isKnown: boolean): void {
      run.read += orders.length;
      for (const { position, firstPosition } of orders)
        if (firstPosition !== null) run.duplicates.set(position, firstPosition);
      if (!isKnown) return;
      run.before += orders.length;
      run.bytes += bytes;
      from = sample();
    },
    replied({ bytes }: Batch, results: readonly Result[]): void {
      run.endedAt = performance.now();
      run.replied += results.length;
      run.bytes += bytes;
      run.refused += results.filter((result) => !isAccepted(result)).length;
    },
    /** Shows that all requests wait; null to end that. */
    wait(until: { ms: number; why: string } | null): void {
      wait = until && { until: performance.now() + until.ms, why: until.why };
    },
    /** Shows how many outcomes are known, once everything was sent. */
    follow(known: number, accepted: number): void {
      followed = { known, accepted };
    },
    /** By position, orders with the source_order_id of an earlier one; the value is the position of that one. */
    duplicates: (): ReadonlyMap<number, number> => run.duplicates,
    /** The counts and the speed of this run, for the report. */
    counts() {
      const { read, before, startedAt, endedAt, duplicates } = run;
      const seconds = (endedAt - startedAt) / 1000;
      return {
        read,
        sent_before: before,
        seconds,
        orders_per_second: seconds > 0 ? (read - before) / seconds : 0,
        repeated: duplicates.size,
      };
    },
    close(): void {
      clearInterval(timer);
      clearTimeout(first);
      if (isTTY) stderr.write('\r\x1b[K');
    },
  };
}

function speedOf(from: Sample, to: Sample): { perSecond: number; secondsLeft: number | null } {
  const seconds = Math.max(0.001, (to.at - from.at) / 1000);
  const fractionPerSecond = ((to.fraction ?? 0) - (from.fraction ?? 0)) / seconds;
  return {
    perSecond: (to.orders - from.orders) / seconds,
    secondsLeft: to.fraction !== null && fractionPerSecond > 0 ? (1 - to.fraction) / fractionPerSecond : null,
  };
}

function barOf(fraction: number): string {
  const full = Math.round(Math.min(1, fraction) * BAR_WIDTH);
  return `[${'#'.repeat(full)}${'-'.repeat(BAR_WIDTH - full)}]`;
}

/** 9 s, 4:09, 2:04:09 */
function timeOf(seconds: number): string {
  const whole = Math.ceil(seconds);
  if (whole < 60) return `${whole} s`;
  const parts = [Math.floor(whole / 3600), Math.floor(whole / 60) % 60, whole % 60];
  const [first, ...rest] = parts[0] === 0 ? parts.slice(1) : parts;
  return [first, ...rest.map((part) => String(part).padStart(2, '0'))].join(':');
}
