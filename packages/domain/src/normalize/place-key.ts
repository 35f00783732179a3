/**
 * Folds a place name to the letters and digits that tell it from others, so that spellings can be looked up: no case,
 * blanks, punctuation, accents or Arabic vowel signs, one form for each of alif, ya, kaf and ta marbuta.
 */
export function toPlaceKey(text: string): string {
  return text
    .normalize('NFKD')
    .toLowerCase()
    .replace(/[^\p{L}\p{N}]|\u0640/gu, '')
    .replaceAll('ٱ', 'ا')
    .replaceAll('ة', 'ه')
    .replace(/[ىی]/g, 'ي')
    .replaceAll('ک', 'ك');
}

/** Removes what people put around an emirate's name ("Emirate of Dubai, UAE") from a place key. */
export function removeSurroundings(key: string): string {
  return key
    .replace(/^(?:uae|the|emirateof|emirate|cityof|اماره|مدينه)+/, '')
    .replace(/(?:emirate|city|uae|unitedarabemirates|الامارات|الاماراتالعربيهالمتحده)+$/, '');
}
