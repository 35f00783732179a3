import type { Contestant } from './contestants.ts';
import { type Figure, renderFigures } from './report/tables.ts';
import type { Services } from './services.ts';

/** An option that takes a whole number above zero: its flag, what it means, and its default. */
type NumberOption = readonly [flags: string, description: string, value: number];

export const ROUNDS: NumberOption = ['--rounds <number>', 'of each measurement', 3];
export const SECONDS: NumberOption = ['--seconds <number>', 'of load in each measurement', 8];

/** What the command line sets. Each bench reads the options that it declares. */
export interface Options {
  only?: Contestant[];
  loads: string[];
  rounds: number;
  seconds: number;
  rows: number;
  writeRounds: number;
  batches: number;
  orders: number;
  cycles: number;
  keys: number;
  receipts: number;
  months: number;
  monthOrders: number;
  waiting: number;
  image?: string;
  json?: string;
  chart?: string;
  /** A directory for CPU profiles. */
  profile?: string;
  postgres?: string;
}

/** What a bench found. */
export interface Outcome {
  /** To print. */
  text: string;
  /** The members to write as JSON. */
  results: object;
  /** Whether the service did something wrong. */
  hasFailed?: boolean;
}

/** One command of `npm run bench --`. */
export interface Bench {
  name: string;
  description: string;
  options: readonly NumberOption[];
  /** An option with a text. */
  textOption?: [flags: string, description: string];
  /** To print after the help. */
  help?: string;
  run(services: Services, options: Options): Promise<Outcome>;
}

/** The outcome of a bench that consists of figures. */
export function outcomeOf(figures: Figure[], hasFailed = false): Outcome {
  return { text: renderFigures(figures), results: { figures }, hasFailed };
}

export const haveFaults = (measurements: readonly { faults: readonly unknown[] }[]): boolean =>
  measurements.some(({ faults }) => faults.length > 0);
