/**
 * Commas of both scripts, colons, brackets, slashes, line ends, "and", "or", dashes with a blank, and where one script
 * follows another ("Dubai دبي"). Not the hyphen of "Abu-Dhabi".
 */
const SEPARATORS =
  /[,،;؛:|/\\()[\]\n\t&]|\s[-–—]|[-–—]\s|\s(?:and|or|أو|او)\s|(?<=\p{Script=Latin})\s(?=\p{Script=Arabic})|(?<=\p{Script=Arabic})\s(?=\p{Script=Latin})/iu;

/** The parts of an address or a place name, in order, without blank ones. */
export function splitParts(text: string): string[] {
  return text
    .split(SEPARATORS)
    .map((part) => part.replace(/^[\s–—-]+|(?<![\s–—-])[\s–—-]+$/g, ''))
    .filter((part) => part !== '');
}
