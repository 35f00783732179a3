import { type FailedOrder, type FailureFile, failureOfAccepted, failureOfRefused } from './failures.ts';
import { followUp, type Outcome, toOutcomes } from './follow-up.ts';
import type { Journal } from './journal.ts';
import { isAccepted } from './journal-entries.ts';
import type { Progress } from './progress.ts';
import type { Status } from './report.ts';

/** Max rejected, dead or unknown orders in the report. Orders that differ or duplicate an id are all listed. */
const MAX_SHOWN_FAILURES = 5;

type FinishDependencies = Parameters<typeof followUp>[1];

/**
 * Determines the outcome of all orders of all runs, and whether any is still open; writes the failed ones to the file of failures.
 *
 * @param dependencies null to not ask for outcomes.
 * @param input.count number of orders in the input.
 * @param input.duplicates by position, orders with the source_order_id of an earlier one; the value is the position of that one.
 */
export async function finishRun(
  journal: Journal,
  file: FailureFile,
  dependencies: FinishDependencies | null,
  progress: Progress,
  { count: of, duplicates }: { count: number; duplicates: ReadonlyMap<number, number> },
) {
  const statuses: Record<Status, number> = {
    written: 0,
    duplicate: 0,
    dead: 0,
    failed: 0,
    pending: 0,
    unknown: 0,
    not_followed: 0,
  };
  // A map, as the service may send any code, such as `constructor`.
  const refusedByCode = new Map<string, number>();
  let [refused, changed, listed] = [0, 0, 0];
  const failures: FailedOrder[] = [];
  let shown = 0;
  let notFollowedReason: string | null = null;
  const add = (failure: FailedOrder | null) => {
    if (!failure) return;
    const repeats = duplicates.get(failure.place);
    const added = repeats === undefined ? failure : { ...failure, repeats };
    file.add({ ...added, of });
    listed += 1;
    const isAccepted = failure.status === 'duplicate' || failure.status === 'accepted';
    if (isAccepted || repeats !== undefined || shown++ < MAX_SHOWN_FAILURES) failures.push(added);
    if (isAccepted && failure.code !== 'repeated_id') changed += 1;
    if (failure.status !== 'refused') return;
    refused += 1;
    refusedByCode.set(failure.code, (refusedByCode.get(failure.code) ?? 0) + 1);
  };
  const addOutcome = (outcome: Outcome) => add(failureOfAccepted(outcome, duplicates.get(outcome.position)));
  async function* withoutRefusals() {
    for await (const results of journal.results()) {
      for (const result of results) add(failureOfRefused(result));
      yield results.filter(isAccepted);
    }
  }

  if (dependencies) {
    const followed = { known: 0, accepted: 0 };
    for await (const results of journal.results()) followed.accepted += results.filter(isAccepted).length;
    progress.followed = followed;
    const onLost = (reason: string) => {
      notFollowedReason = reason;
    };
    for await (const outcomes of followUp(withoutRefusals(), dependencies, onLost)) {
      followed.known += outcomes.length;
      for (const outcome of outcomes) {
        statuses[statusOf(outcome)] += 1;
        addOutcome(outcome);
      }
    }
  } else {
    for await (const accepted of withoutRefusals()) {
      statuses.not_followed += accepted.length;
      accepted.flatMap(toOutcomes).forEach(addOutcome);
    }
  }
  const hasOpen = statuses.pending + statuses.failed > 0;
  return {
    refused,
    refused_by_code: Object.fromEntries(refusedByCode),
    changed,
    statuses,
    not_asked: notFollowedReason,
    listed,
    failures,
    hasOpen,
  };
}

function statusOf({ status }: Outcome): Status {
  return status === 'received' || status === 'normalized' || status === 'not_asked' ? 'pending' : status;
}
