/** Whether one character added, left out, replaced or swapped with its neighbour turns `a` into `b`. */
export function isOneTypoApart(a: string, b: string): boolean {
  if (a === b || Math.abs(a.length - b.length) > 1) return false;
  let start = 0;
  while (start < a.length && a[start] === b[start]) start++;
  let end = 0;
  while (end < Math.min(a.length, b.length) - start && a.at(-1 - end) === b.at(-1 - end)) end++;
  const left = a.slice(start, a.length - end);
  const right = b.slice(start, b.length - end);
  const isSwap = left.length === 2 && left[0] === right[1] && left[1] === right[0];
  return isSwap || (left.length <= 1 && right.length <= 1);
}
