import { type ReactNode, useEffect, useState } from 'react';
import { locale } from '../text/index.ts';

const UNITS: [Intl.RelativeTimeFormatUnit, number][] = [
  ['day', 86_400_000],
  ['hour', 3_600_000],
  ['minute', 60_000],
  ['second', 1000],
];

/** A moment in full, in the reader's language and time zone. */
export function fullTime(iso: string): string {
  return new Intl.DateTimeFormat(locale(), { dateStyle: 'medium', timeStyle: 'medium' }).format(new Date(iso));
}

function relativeTime(iso: string, now: number): string {
  const since = new Date(iso).getTime() - now;
  const [unit, size] = UNITS.find(([, milliseconds]) => Math.abs(since) >= milliseconds) ?? ['second', 1000];
  return new Intl.RelativeTimeFormat(locale(), { numeric: 'auto', style: 'short' }).format(
    Math.round(since / size),
    unit,
  );
}

/** How long ago something was; the moment itself on hover. */
export function Ago({ at }: { at: string }): ReactNode {
  const [now, setNow] = useState(Date.now);
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), 15_000);
    return () => clearInterval(timer);
  }, []);
  return (
    <time dateTime={at} title={fullTime(at)}>
      {relativeTime(at, now)}
    </time>
  );
}
