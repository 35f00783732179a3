import { type ReactNode, useSyncExternalStore } from 'react';
import { cached, TIME_UNITS } from './numbers.ts';

const TO_MINUTE = { month: 'short', day: 'numeric', hour: '2-digit', minute: '2-digit' } as const;
const IN_LOG = { ...TO_MINUTE, year: 'numeric', second: '2-digit' } as const;
const TO_SECOND = { ...TO_MINUTE, second: '2-digit', timeZoneName: 'shortOffset' } as const;
const inLog = cached((language) => new Intl.DateTimeFormat(language, IN_LOG));
const full = cached((language) => new Intl.DateTimeFormat(language, { year: 'numeric', ...TO_SECOND }));
const day = cached((language) => new Intl.DateTimeFormat(language, { dateStyle: 'medium' }));
const exact = cached((language) => new Intl.DateTimeFormat(language, { ...TO_SECOND, fractionalSecondDigits: 3 }));
const toMinute = cached((language) => new Intl.DateTimeFormat(language, TO_MINUTE));
const hourAndMinute = cached((language) => new Intl.DateTimeFormat(language, { hour: '2-digit', minute: '2-digit' }));
const relative = cached((language) => new Intl.RelativeTimeFormat(language, { numeric: 'auto', style: 'short' }));

/** Full date and time in the reader's language and time zone. */
export function fullTime(iso: string): string {
  return full().format(new Date(iso));
}

/** Date and time for a column whose header has the time zone. */
export function logTime(iso: string): string {
  return inLog().format(new Date(iso));
}

/** The name of the reader's time zone, such as "Asia/Dubai". */
export function timeZone(): string {
  return inLog().resolvedOptions().timeZone;
}

/** Date and time to the millisecond, without the year. */
export function exactTime(iso: string): string {
  return exact().format(new Date(iso));
}

/** Hour and minute. @param time in milliseconds since 1970. */
export function timeOfDay(time: number): string {
  return hourAndMinute().format(time);
}

/** The time of day and, unless it is today, the day. @param at in ISO 8601, or in milliseconds since 1970. */
export function shortTime(at: string | number): string {
  const time = new Date(at);
  const isToday = time.toDateString() === new Date().toDateString();
  return (isToday ? hourAndMinute : toMinute)().format(time);
}

function relativeTime(iso: string, now: number): string {
  const since = Math.min(0, new Date(iso).getTime() - now);
  const found = TIME_UNITS.find(([, milliseconds]) => Math.abs(since) >= milliseconds);
  const [unit, size] = found && found[0] !== 'millisecond' ? found : (['second', 1000] as const);
  return relative().format(Math.round(since / size), unit);
}

/** A date, with the full time on hover. */
export function Day({ at }: { at: string }): ReactNode {
  return (
    <time dateTime={at} title={fullTime(at)}>
      {day().format(new Date(at))}
    </time>
  );
}

const TICK = 15_000;
let now = Date.now();
let timer: ReturnType<typeof setInterval> | undefined;
const watchers = new Set<() => void>();

/** One clock for the whole page; it runs while a component subscribes to it. */
function watchClock(watcher: () => void): () => void {
  if (watchers.size === 0) {
    now = Date.now();
    timer = setInterval(tick, TICK);
  }
  watchers.add(watcher);
  return () => {
    watchers.delete(watcher);
    if (watchers.size === 0) clearInterval(timer);
  };
}

function tick(): void {
  now = Date.now();
  for (const watcher of watchers) watcher();
}

/** The time of the page's clock, in milliseconds since 1970. */
export function useNow(): number {
  return useSyncExternalStore(watchClock, () => now);
}

/** A relative time, with the full time on hover. A time after the clock's last tick shows as "now". */
export function Ago({ at }: { at: string }): ReactNode {
  const clock = useNow();
  return (
    <time dateTime={at} title={fullTime(at)}>
      {relativeTime(at, clock)}
    </time>
  );
}
