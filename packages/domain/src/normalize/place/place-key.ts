/**
 * Folds a place name to the letters and digits that tell it from others, so that spellings can be looked up: no case,
 * blanks, punctuation, accents or Arabic vowel signs; one form for each of alif, ya, kaf, ha and ta marbuta. The key of
 * several words is the keys of each, one behind the other.
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
