import Big from 'big.js';

/** The plain decimal text, never with an exponent, of a finite JSON number: the shortest that reads back as it. */
export function toDecimalText(number: number): string {
  const text = String(number);
  return text.includes('e') ? new Big(text).toFixed() : text;
}
