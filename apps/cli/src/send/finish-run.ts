import { type FailedOrder, type FailureFile, failureOfAccepted, failureOfRefused } from './failures.ts';
import { followUp, type Outcome, toOutcomes } from './follow-up.ts';
import type { Journal } from './journal.ts';
import { isAccepted } from './journal-entries.ts';
import type { Progress } from './progress.ts';
import { STATUSES, type Status } from './report.ts';
import type { Session } from './retry-gate.ts';

/** Max rejected, dead or unknown orders in the report. Orders that differ or duplicate an id are all listed. */
const MAX_SHOWN_FAILURES = 5;

/**
 * Determines the outcome of all orders of all runs, and whether any is still open; writes the failed ones to the file of failures.
 *
 * @param waiting null to not ask for outcomes.
 * @param of number of orders in the input.
 */
export async function finishRun(
  journal: Journal,
  file: FailureFile,
  waiting: { session: Session; waitMs: number } | null,
  progress: Progress,
  of: number,
) {
  const duplicates = progress.duplicates();
  const statuses = Object.fromEntries(STATUSES.map((status) => [status, 0])) as Record<Status, number>;
  // A map, as the service may send any code, such as `constructor`.
  const refusedByCode = new Map<string, number>();
  let [refused, changed, listed, shown] = [0, 0, 0, 0];
  const failures: FailedOrder[] = [];
  let notAsked: string | null = null;
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
  const addOutcome = (outcome: Outcome) => add(failureOfAccepted(outcome, duplicates.get(outcome.place)));
  async function* withoutRefusals() {
    for await (const results of journal.results()) {
      for (const result of results) add(failureOfRefused(result));
      yield results.filter(isAccepted);
    }
  }

  if (waiting) {
    let [known, accepted] = [0, 0];
    for await (const results of journal.results()) accepted += results.filter(isAccepted).length;
    progress.follow(known, accepted);
    const onLost = (reason: string) => {
      notAsked = reason;
    };
    for await (const outcomes of followUp(withoutRefusals(), waiting.session, waiting.waitMs, onLost)) {
      known += outcomes.length;
      progress.follow(known, accepted);
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
  return {
    refused,
    refused_by_code: Object.fromEntries(refusedByCode),
    changed,
    statuses,
    not_asked: notAsked,
    listed,
    failures,
    hasOpen: statuses.pending + statuses.failed > 0,
  };
}

function statusOf({ status }: Outcome): Status {
  return status === 'received' || status === 'normalized' || status === 'not_asked' ? 'pending' : status;
}
