/** The zeros of Arabic-Indic, Persian and full-width digits. */
const ZEROS = [0x0660, 0x06f0, 0xff10];

/** Replaces Arabic-Indic, Persian and full-width digits with 0 to 9. */
export function toAsciiDigits(text: string): string {
  return text.replace(/[\u0660-\u0669\u06f0-\u06f9\uff10-\uff19]/g, (digit) => {
    const code = digit.charCodeAt(0);
    const zero = ZEROS.findLast((candidate) => candidate <= code) ?? code;
    return String(code - zero);
  });
}
