import type { CliContext } from '../context.ts';
import { count, plural } from '../table.ts';
import type { Input } from './read-input.ts';
import type { SentOrder } from './send-batches.ts';

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

/** Counts what a run sends, and shows it until closed: one updated line on a terminal, else a line every few seconds. */
export function showProgress({ size }: Input, stderr: CliContext['stderr']) {
  const { isTTY = false } = stderr;
  const startedAt = performance.now();
  let endedAt = startedAt;
  const counts = { read: 0, repeated: 0, sent_before: 0, rejected: 0 };
  let bytes = 0;
  let known: number | null = null;
  let wait: { until: number; why: string } | null = null;
  const samples = [sample()];

  function sample(): Sample {
    return { at: performance.now(), orders: counts.read, fraction: size ? Math.min(1, bytes / size) : null };
  }

  function show(): void {
    const now = sample();
    samples.push(now);
    while (samples.length > 2 && (samples[1]?.at ?? 0) <= now.at - WINDOW_MS) samples.shift();
    const line =
      known === null
        ? sendingLine(now)
        : `${count(now.orders)} sent; ${count(known)} of ${plural(counts.read - counts.rejected, 'outcome')} known${waiting()}`;
    // One column shorter than the terminal, so that the cursor stays on the line.
    stderr.write(isTTY ? `\r${line.slice(0, (stderr.columns || 80) - 1)}\x1b[K` : `${line}\n`);
  }

  function waiting(): string {
    if (!wait) return '';
    const seconds = Math.ceil((wait.until - performance.now()) / 1000);
    return `; waits${seconds > 0 ? ` ${seconds} s` : ''}: ${wait.why}`;
  }

  function sendingLine({ at, orders, fraction }: Sample): string {
    const [from] = samples as [Sample];
    const seconds = Math.max(0.001, (at - from.at) / 1000);
    const fractionPerSecond = ((fraction ?? 0) - (from.fraction ?? 0)) / seconds;
    const left =
      fraction !== null && fractionPerSecond > 0 && !wait ? `, ${timeOf((1 - fraction) / fractionPerSecond)} left` : '';
    const done = fraction === null ? '' : `${isTTY ? `${barOf(fraction)} ` : ''}${Math.floor(fraction * 100)} % `;
    const speed = `${count(Math.round((orders - from.orders) / seconds))}/s${left}`;
    return `${done}${plural(orders, 'order')}, ${speed}, ${count(counts.rejected)} rejected${waiting()}`;
  }

  const timer = setInterval(show, isTTY ? TERMINAL_INTERVAL_MS : LINE_INTERVAL_MS);
  const first = isTTY ? undefined : setTimeout(show, FIRST_LINE_MS);
  return {
    /** Counts the next orders of the input. */
    replied(orders: readonly SentOrder[]): void {
      endedAt = performance.now();
      for (const { end, firstPosition, rejection, isReplay } of orders) {
        counts.read += 1;
        if (firstPosition !== null) counts.repeated += 1;
        if (rejection) counts.rejected += 1;
        if (isReplay) counts.sent_before += 1;
        bytes = end;
      }
    },
    /** Shows that all requests wait; null to end that. */
    wait(until: { ms: number; why: string } | null): void {
      wait = until && { until: performance.now() + until.ms, why: until.why };
    },
    /** Counts outcomes, once everything was sent. */
    followed(orders: number): void {
      known = (known ?? 0) + orders;
    },
    /** The counts and the speed, for the report. */
    counts() {
      const seconds = (endedAt - startedAt) / 1000;
      return { ...counts, seconds, orders_per_second: seconds > 0 ? counts.read / seconds : 0 };
    },
    close(): void {
      clearInterval(timer);
      clearTimeout(first);
      if (isTTY) stderr.write('\r\x1b[K');
    },
  };
}

function barOf(fraction: number): string {
  const full = Math.round(fraction * BAR_WIDTH);
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
