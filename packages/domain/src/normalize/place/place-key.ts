/**
 * Folds a place name to a lookup key: no case, spaces, punctuation, accents or Arabic vowel signs, and one form each of alif, ya, kaf, ha and
 * ta marbuta. The key of several words is the concatenation of their keys.
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
