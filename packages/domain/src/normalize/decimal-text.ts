import Big from 'big.js';

/** Larger numbers are no name, code or amount, and their decimal string is far longer than the number. */
const MAX_SIZE = 1e40;

/**
 * The shortest decimal string, without exponent, that parses to the number. Undefined if the number is too large or too close to zero.
 */
export function toDecimalText(number: number): string | undefined {
  const size = Math.abs(number);
  if (!(size < MAX_SIZE && (size > 1 / MAX_SIZE || size === 0))) return undefined;
  const text = String(number);
  return text.includes('e') ? new Big(text).toFixed() : text;
}
