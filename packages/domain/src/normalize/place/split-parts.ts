/**
 * Commas of both scripts, colons, brackets, slashes, line breaks, "and", "or" (in Arabic also و before a name), and dashes next to a space;
 * not the hyphen of "Abu-Dhabi".
 */
const SEPARATORS = /[,،;؛:|/\\()[\]\n\t&]|\s[-–—]|[-–—]\s|\s(?:and|or|أو|او)\s|\sو(?=ال|دب|عجم|أب|اب|رأ|را|أم|ام)/i;

/** Splits an address or place name; parts may be empty. */
export function splitParts(text: string): string[] {
  return text.split(SEPARATORS);
}
