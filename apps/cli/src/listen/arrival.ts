import type { Problem } from '@orders/domain';
import type { CancelledOrder, Deliveries, Outcome } from './deliveries.ts';
import type { Cause, Expected } from './diagnose.ts';
import type { SimulatedFailures } from './failures.ts';

/** Configuration and state of a listener. */
export interface Setup extends Expected {
  failures: SimulatedFailures;
  deliveries: Deliveries;
}

/** A request and its reply. */
export interface Arrival {
  at: Date;
  method: string;
  /** Without its query. */
  path: string;
  /** Alternating names and values, as received. */
  rawHeaders: readonly string[];
  requestId: string;
  /** Null if the body was not read. */
  body: Buffer | null;
  status: number;
  problem: Problem | null;
  cause: Cause | null;
  /** Null unless a delivery was accepted. */
  outcome: Outcome | null;
  /** Null unless orders were cancelled. */
  cancelled: CancelledOrder[] | null;
  /** Rejected only because of `--fail`. */
  isSimulated: boolean;
}
