/** Passes on a growing count, each time that it has grown by an interval. */
export function every(interval: number, report: (count: number) => void): (count: number) => void {
  let reported = 0;
  return (count) => {
    if (count < reported + interval) return;
    reported = count;
    report(count);
  };
}
