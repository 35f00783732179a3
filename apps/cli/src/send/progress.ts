import type { CliContext } from '../context.ts';
import { count } from './report.ts';

/** How far a run is. */
export interface Progress {
  /** Answered so far, by all runs. */
  orders: number;
  refused: number;
  /** Of the input, as far as it is answered; null where its length is not known. */
  fraction: number | null;
  /** How far it was when this run began to send: the speed is that of this run alone. */
  from: Sample;
  /** Until when all requests are held back, by `performance.now()`, and why. */
  wait: { until: number; why: string } | null;
  /** After all was sent: how many outcomes are known. */
  followed: { known: number; accepted: number } | null;
}

/** How far it was at a time, by `performance.now()`. */
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
/** The rate is that of the last seconds. */
const WINDOW_MS = 10_000;
const BAR_WIDTH = 24;

/** Of a run that begins. */
export function createProgress(): Progress {
  const nothing = { orders: 0, fraction: null };
  return { ...nothing, refused: 0, from: sampleOf(nothing), wait: null, followed: null };
}

/** Shows how far it is until it is closed: one line that changes on a terminal, else a line every few seconds. */
export function showProgress(progress: Progress, stderr: CliContext['stderr']): Display {
  const { isTTY = false } = stderr;
  const samples = [progress.from];
  const show = () => {
    if ((samples[0] as Sample).at < progress.from.at) samples.splice(0, samples.length, progress.from);
    const now = sampleOf(progress);
    samples.push(now);
    while (samples.length > 2 && (samples[1]?.at ?? 0) <= now.at - WINDOW_MS) samples.shift();
    const line = lineOf(progress, speedOf(samples[0] as Sample, now), isTTY);
    // The cursor stays at the end of a line that is cut to the width of the terminal.
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

/** How far it is now. */
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
