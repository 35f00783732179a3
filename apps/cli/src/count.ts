/** 12,345 */
export function count(number: number): string {
  return number.toLocaleString('en');
}

/** A count with its noun: `1 order`, `12,345 orders`. */
export function plural(number: number, one: string, many = `${one}s`): string {
  return `${count(number)} ${number === 1 ? one : many}`;
}
