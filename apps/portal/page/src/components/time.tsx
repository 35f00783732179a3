import { type ReactNode, useSyncExternalStore } from 'react';
import { locale } from '../locales/index.ts';

const UNITS: [Intl.RelativeTimeFormatUnit, number][] = [
  ['day', 86_400_000],
  ['hour', 3_600_000],
  ['minute', 60_000],
  ['second', 1000],
];

const makeFormatters = (language: string) => ({
  full: new Intl.DateTimeFormat(language, {
    ...{ year: 'numeric', month: 'short', day: 'numeric', hour: '2-digit', minute: '2-digit', second: '2-digit' },
    timeZoneName: 'shortOffset',
  }),
  exact: new Intl.DateTimeFormat(language, {
    ...{ month: 'short', day: 'numeric', hour: '2-digit', minute: '2-digit', second: '2-digit' },
    fractionalSecondDigits: 3,
    timeZoneName: 'shortOffset',
  }),
  timeOfDay: new Intl.DateTimeFormat(language, { hour: '2-digit', minute: '2-digit' }),
  relative: new Intl.RelativeTimeFormat(language, { numeric: 'auto', style: 'short' }),
});

/** Cached because formatters are expensive to create, and a list shows many times. */
const formatters = new Map<string, ReturnType<typeof makeFormatters>>();

function formattersOf(language: string) {
  const found = formatters.get(language) ?? makeFormatters(language);
  formatters.set(language, found);
  return found;
}

/** Full date and time in the reader's language and time zone. */
export function fullTime(iso: string): string {
  return formattersOf(locale()).full.format(new Date(iso));
}

/** Date and time to the millisecond, without the year. */
export function exactTime(iso: string): string {
  return formattersOf(locale()).exact.format(new Date(iso));
}

/** @param time in milliseconds since 1970. */
export function timeOfDay(time: number): string {
  return formattersOf(locale()).timeOfDay.format(time);
}

function relativeTime(iso: string, now: number): string {
  const since = Math.min(0, new Date(iso).getTime() - now);
  const [unit, size] = UNITS.find(([, milliseconds]) => Math.abs(since) >= milliseconds) ?? ['second', 1000];
  return formattersOf(locale()).relative.format(Math.round(since / size), unit);
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

/** A relative time, with the full time on hover. A time after the clock's last tick shows as "now". */
export function Ago({ at }: { at: string }): ReactNode {
  const clock = useSyncExternalStore(watchClock, () => now);
  return (
    <time dateTime={at} title={fullTime(at)}>
      {relativeTime(at, clock)}
    </time>
  );
}
