import Big from 'big.js';

/** Beyond this no number is a name, a code or an amount; and its decimal text would be far longer than the number. */
const LARGEST = 1e40;

/** Whether a JSON number is one that can be written out. */
export function isInRange(number: number): boolean {
  const size = Math.abs(number);
  return size < LARGEST && (size > 1 / LARGEST || size === 0);
}

/** The plain decimal text, never with an exponent, of a JSON number in range: the shortest that reads back as it. */
export function toDecimalText(number: number): string {
  const text = String(number);
  return text.includes('e') ? new Big(text).toFixed() : text;
}
