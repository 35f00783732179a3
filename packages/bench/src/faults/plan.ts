import type { Fault } from './faults.ts';
import { between, mulberry32, shuffled } from './random.ts';

/** One round: a fault, whom it strikes and when. */
export interface PlannedRound {
  /** Null for a round in which nothing happens. */
  fault: Fault | null;
  victim: number;
  /** Seconds from the beginning of the round. */
  strikeAt: number;
  /** Seconds from the strike to healing. */
  lasts: number;
}

/** The part of a round within which faults strike. */
const STRIKES = [0.15, 0.5] as const;

/** All that a seed decides: each kind comes once before one comes again, in another order each time. */
export function planRounds(
  faults: readonly Fault[],
  { rounds, roundSeconds, seed }: { rounds: number; roundSeconds: number; seed: number },
): PlannedRound[] {
  const random = mulberry32(seed);
  const plan: PlannedRound[] = [];
  while (faults.length > 0 && plan.length < rounds) {
    for (const fault of shuffled(random, faults)) {
      plan.push({
        fault,
        victim: Math.floor(random() * 2),
        strikeAt: between(random, STRIKES) * roundSeconds,
        lasts: between(random, fault.lasts),
      });
    }
  }
  return plan.slice(0, rounds);
}
