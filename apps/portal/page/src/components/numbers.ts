import { locale } from '../locales/locale.ts';

/** Formatters are expensive to create, and lists show many values: one for each language. */
export function cached<Format>(create: (language: string) => Format): () => Format {
  const formats = new Map<string, Format>();
  return () => {
    const format = formats.get(locale()) ?? create(locale());
    formats.set(locale(), format);
    return format;
  };
}

const counts = cached((language) => new Intl.NumberFormat(language));
const shares = cached((language) => new Intl.NumberFormat(language, { style: 'percent', roundingMode: 'floor' }));

/** Formats a count in the reader's locale, with a plus if there are more. Numbers in translated texts are formatted by the texts themselves. */
export function formatCount(value: number, areMore = false): string {
  return `${counts().format(value)}${areMore ? '+' : ''}`;
}

/** Formats a share of 1 as a percentage. Rounded down, so that only all of something is 100%. */
export function formatShare(value: number): string {
  return shares().format(value);
}

/** From the largest to the smallest, in milliseconds. */
export const TIME_UNITS = [
  ['day', 86_400_000],
  ['hour', 3_600_000],
  ['minute', 60_000],
  ['second', 1000],
  ['millisecond', 1],
] as const;

/** Formats milliseconds in the largest unit that fits, with two significant digits. */
export function formatDuration(milliseconds: number): string {
  const [unit, size] = TIME_UNITS.find(([, size]) => milliseconds >= size) ?? TIME_UNITS[4];
  const style = { style: 'unit', unit, unitDisplay: 'short', maximumSignificantDigits: 2 } as const;
  return new Intl.NumberFormat(locale(), style).format(milliseconds / size);
}

const MINUTE = 60_000;

/** Formats whole minutes exactly, in the largest unit of which they are a multiple. */
export function formatMinutes(minutes: number): string {
  const [unit, size] = TIME_UNITS.find(([, size]) => (minutes * MINUTE) % size === 0) ?? TIME_UNITS[2];
  const style = { style: 'unit', unit, unitDisplay: 'long' } as const;
  return new Intl.NumberFormat(locale(), style).format((minutes * MINUTE) / size);
}
