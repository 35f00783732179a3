/**
 * Folds a place name to the letters and digits that tell it from others, so that spellings can be looked up: no case,
 * blanks, punctuation, accents or Arabic vowel signs; one form for each of alif, ya, kaf, ha and ta marbuta.
 */
export function toPlaceKey(text: string): string {
  return text
    .normalize('NFKD')
    .toLowerCase()
    .replace(/[^\p{L}\p{N}]|\p{Lm}/gu, '')
    .replaceAll('ٱ', 'ا')
    .replace(/[ةہھۃ]/g, 'ه')
    .replace(/[ىیے]/g, 'ي')
    .replaceAll('ک', 'ك');
}

/** Removes what people put around an emirate's name ("Emirate of Dubai, UAE") from a place key. */
export function removeSurroundings(key: string): string {
  return key
    .replace(
      /^(?:unitedarabemirates|uae|ae|the|emirates?of|emirate?|cityof|city|stateof|الاماراتالعربيهالمتحده|الامارات|اماره|مدينه)+/,
      '',
    )
    .replace(/(?:emirate|city|uae|ae|unitedarabemirates|امارات|الامارات|الاماراتالعربيهالمتحده)+$/, '');
}

/** Whether a place key names the country and nothing else. */
export function isCountry(key: string): boolean {
  return COUNTRIES.has(key);
}

const COUNTRIES: ReadonlySet<string> = new Set(
  [
    'UAE,AE,ARE,Emirates,The Emirates,United Arab Emirates,The United Arab Emirates',
    'الإمارات,امارات,الإمارات العربية المتحدة,دولة الإمارات,دولة الإمارات العربية المتحدة',
  ].flatMap((names) => names.split(',').map(toPlaceKey)),
);
