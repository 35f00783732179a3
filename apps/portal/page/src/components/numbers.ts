import { locale } from '../locales/index.ts';

/** Formats a count in the reader's locale. */
export function formatCount(value: number): string {
  return new Intl.NumberFormat(locale()).format(value);
}

const UNITS = [
  ['day', 86_400_000],
  ['hour', 3_600_000],
  ['minute', 60_000],
  ['second', 1000],
  ['millisecond', 1],
] as const;

/** Formats milliseconds in the largest unit that fits, with two significant digits. */
export function formatDuration(milliseconds: number): string {
  const [unit, size] = UNITS.find(([, size]) => milliseconds >= size) ?? UNITS[4];
  const style = { style: 'unit', unit, unitDisplay: 'short', maximumSignificantDigits: 2 } as const;
  return new Intl.NumberFormat(locale(), style).format(milliseconds / size);
}
