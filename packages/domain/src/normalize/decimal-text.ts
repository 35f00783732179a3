import Big from 'big.js';

/** Beyond this no number is a name, a code or an amount; and its decimal text would be far longer than the number. */
const LARGEST = 1e40;

/**
 * The plain decimal text, never with an exponent, of a JSON number: the shortest that reads back as it. Undefined when it
 * is too large, or too near to zero, to be written out.
 */
export function toDecimalText(number: number): string | undefined {
  const size = Math.abs(number);
  if (!(size < LARGEST && (size > 1 / LARGEST || size === 0))) return undefined;
  const text = String(number);
  return text.includes('e') ? new Big(text).toFixed() : text;
}
