import type { Fault } from './faults.ts';
import { between, mulberry32, shuffled } from './random.ts';

/** One round: a fault, its target and its times. */
export interface PlannedRound {
  /** Null for a round without a fault. */
  fault: Fault | null;
  target: number;
  /** Seconds from the start of the round. */
  injectAt: number;
  /** Seconds from injection to recovery. */
  durationSeconds: number;
}

/** The part of a round in which faults are injected. */
const INJECTION_WINDOW = [0.15, 0.5] as const;

/** Plans the rounds from a seed. All faults are injected once, in random order, before any is repeated. */
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
        target: Math.floor(random() * 2),
        injectAt: between(random, INJECTION_WINDOW) * roundSeconds,
        durationSeconds: between(random, fault.durationSeconds),
      });
    }
  }
  return plan.slice(0, rounds);
}
