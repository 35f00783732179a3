import { locale } from '../locales/locale.ts';

/** Cached because formatters are expensive to create, and lists show many numbers. */
const formats = new Map<string, Intl.NumberFormat>();

function numberFormat(options: Intl.NumberFormatOptions = {}): Intl.NumberFormat {
  const key = `${locale()} ${JSON.stringify(options)}`;
  const format = formats.get(key) ?? new Intl.NumberFormat(locale(), options);
  formats.set(key, format);
  return format;
}

/** Formats a count in the reader's locale. Numbers in translated texts are formatted by the texts themselves. */
export function formatCount(value: number): string {
  return numberFormat().format(value);
}

/** Formats a share of 1 as a percentage. Rounded down, so that only all of something is 100%. */
export function formatShare(value: number): string {
  return numberFormat({ style: 'percent', roundingMode: 'floor' }).format(value);
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
  return numberFormat(style).format(milliseconds / size);
}
