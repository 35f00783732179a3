/** Without case and diacritics, which Arabic readers often do not type. */
export function plainText(text: string): string {
  return text.trim().normalize('NFD').replace(/\p{M}/gu, '').toLocaleLowerCase();
}
