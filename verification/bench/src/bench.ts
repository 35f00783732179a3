import type { Contestant } from './contestants.ts';
import type { Services } from './services.ts';
import { type Figure, renderFigures } from './tables.ts';

/** What the command line sets, for all benches. */
export interface Options {
  only?: Contestant[];
  /** The service at another commit. */
  beside?: Contestant;
  loads: string[];
  rounds: number;
  /** Of load in each measurement. */
  seconds: number;
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

/** `npm run bench --`, or one of its commands. */
export interface Bench {
  name: string;
  description: string;
  /** To print after the help. */
  help?: string;
  run(services: Services, options: Options): Promise<Outcome>;
}

/** The outcome of a bench that consists of figures. */
export function outcomeOf(figures: Figure[], hasFailed = false): Outcome {
  return { text: renderFigures(figures), results: { figures }, hasFailed };
}
