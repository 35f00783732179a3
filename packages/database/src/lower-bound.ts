/**
 * A lower bound of what is left in a queue, remembered by its reader. Rows that were deleted stay in the indexes of the queue for as long as
 * a transaction can see them, and a scan from the beginning would step over all of them. A row can appear behind the bound, when it was
 * committed late or left to somebody who had locked it, so some scans begin at the beginning.
 */
export interface LowerBound {
  /** Where the next scan begins; null for the beginning. */
  next(): string | null;
  /** @param bound nothing is left below it; null if that is not known. */
  move(bound: string | null): void;
}

/** @param scansPerFull every so many scans, one begins at the beginning. */
export function rememberLowerBound(scansPerFull: number): LowerBound {
  let bound: string | null = null;
  let scans = 0;
  return {
    next() {
      scans += 1;
      return scans % scansPerFull === 0 ? null : bound;
    },
    move(to) {
      bound = to ?? bound;
    },
  };
}

/** SQL: what is due from a bound on. @param parameter of the bound, such as `$1`. */
export const dueFrom = (parameter: string) => `due_at >= coalesce(${parameter}::timestamptz, '-infinity')`;

/** Begins each scan at the beginning. */
export const NO_LOWER_BOUND: LowerBound = { next: () => null, move: () => {} };
