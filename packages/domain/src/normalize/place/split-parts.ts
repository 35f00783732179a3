/** Commas of both scripts, brackets, slashes, line ends, "and", "or", and dashes between blanks; not the hyphen of "Abu-Dhabi". */
const SEPARATORS = /[,،;؛|/\\()[\]\n\t&]|\s(?:[-–—]+|and|or|أو|او)\s/i;

/** The parts of an address or a place name, in order, without blank ones. */
export function splitParts(text: string): string[] {
  return text
    .split(SEPARATORS)
    .map((part) => part.trim())
    .filter((part) => part !== '');
}
