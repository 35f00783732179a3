import type { CliContext } from '../context.ts';
import { count } from './report.ts';

/** The progress of a run. */
export interface Progress {
  /** Orders with a reply, of all runs. */
  orders: number;
  refused: number;
  /** Fraction of the input with a reply; null if the input's length is unknown. */
  fraction: number | null;
  /** Progress when this run started to send, as the speed is that of this run only. */
  from: Sample;
  /** Until when (by `performance.now()`) all requests wait, and why. */
  wait: { until: number; why: string } | null;
  /** Known outcomes, once everything was sent. */
  followed: { known: number; accepted: number } | null;
}

/** Progress at a time (`performance.now()`). */
interface Sample {
  at: number;
  orders: number;
  fraction: number | null;
}

interface Display {
  close(): void;
}

const TERMINAL_INTERVAL_MS = 100;
const FIRST_LINE_MS = 1_000;
const LINE_INTERVAL_MS = 5_000;
/** The rate covers this window. */
const WINDOW_MS = 10_000;
const BAR_WIDTH = 24;

/** The progress of a new run. */
export function createProgress(): Progress {
  const nothing = { orders: 0, fraction: null };
  return { ...nothing, refused: 0, from: sampleOf(nothing), wait: null, followed: null };
}

/** Shows the progress until closed: one updated line on a terminal, else a line every few seconds. */
export function showProgress(progress: Progress, stderr: CliContext['stderr']): Display {
  const { isTTY = false } = stderr;
  const samples = [progress.from];
  const show = () => {
    if ((samples[0] as Sample).at < progress.from.at) samples.splice(0, samples.length, progress.from);
    const now = sampleOf(progress);
    samples.push(now);
    while (samples.length > 2 && (samples[1]?.at ?? 0) <= now.at - WINDOW_MS) samples.shift();
    const line = lineOf(progress, speedOf(samples[0] as Sample, now), isTTY);
    // One column shorter than the terminal, so that the cursor stays on the line.
    stderr.write(isTTY ? `\r${line.slice(0, (stderr.columns || 80) - 1)}\x1b[K` : `${line}\n`);
  };
  const timer = setInterval(show, isTTY ? TERMINAL_INTERVAL_MS : LINE_INTERVAL_MS);
  const first = isTTY ? undefined : setTimeout(show, FIRST_LINE_MS);
  return {
    close() {
      clearInterval(timer);
      clearTimeout(first);
      if (isTTY) stderr.write('\r\x1b[K');
    },
  };
}

interface Speed {
  perSecond: number;
  secondsLeft: number | null;
}

/** The current progress. */
export function sampleOf({ orders, fraction }: Pick<Progress, 'orders' | 'fraction'>): Sample {
  return { at: performance.now(), orders, fraction };
}

function speedOf(from: Sample, to: Sample): Speed {
  const seconds = Math.max(0.001, (to.at - from.at) / 1000);
  const fractionPerSecond = ((to.fraction ?? 0) - (from.fraction ?? 0)) / seconds;
  return {
    perSecond: (to.orders - from.orders) / seconds,
    secondsLeft: to.fraction !== null && fractionPerSecond > 0 ? (1 - to.fraction) / fractionPerSecond : null,
  };
}

function lineOf({ orders, refused, fraction, wait, followed }: Progress, speed: Speed, withBar: boolean): string {
  const waits = wait ? Math.ceil((wait.until - performance.now()) / 1000) : 0;
  const waiting = wait ? `; waits${waits > 0 ? ` ${waits} s` : ''}: ${wait.why}` : '';
  if (followed)
    return `${count(orders)} sent; ${count(followed.known)} of ${count(followed.accepted)} outcomes known${waiting}`;
  const percent = fraction === null ? null : Math.floor(fraction * 100);
  const bar = withBar && fraction !== null ? `${barOf(fraction)} ` : '';
  const left = speed.secondsLeft === null || wait ? '' : `, ${timeOf(speed.secondsLeft)} left`;
  const done = `${bar}${percent === null ? '' : `${percent} % `}${count(orders)} orders`;
  return `${done}, ${count(Math.round(speed.perSecond))}/s${left}, ${count(refused)} refused${waiting}`;
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
