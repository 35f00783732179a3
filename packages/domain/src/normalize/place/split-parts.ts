/**
 * Commas of both scripts, colons, brackets, slashes, line ends, "and", "or" (in Arabic also و before a name), and dashes
 * with a blank beside them; not the hyphen of "Abu-Dhabi".
 */
const SEPARATORS = /[,،;؛:|/\\()[\]\n\t&]|\s[-–—]|[-–—]\s|\s(?:and|or|أو|او)\s|\sو(?=ال|دب|عجم|أب|اب|رأ|را|أم|ام)/i;

/** The parts of an address or a place name, in order; some may be blank. */
export function splitParts(text: string): string[] {
  return text.split(SEPARATORS);
}
