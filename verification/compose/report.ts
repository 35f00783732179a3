/** What a part of the run is given. */
export interface RunContext {
  /** Orders a second while services restart. */
  rate: number;
  /** Ends what is under way. */
  signal: AbortSignal;
  /** Tells how far it is. */
  say: (text: string) => void;
}

/** What a part of the run found out. */
export interface Report {
  lines: string[];
  /** Empty if all is well. */
  violations: string[];
}

/** A line of the report. */
export const line = (about: string, found: string) => `${about.padEnd(18)} ${found}`;
