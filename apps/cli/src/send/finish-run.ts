import { type FailedOrder, type FailureFile, ofAccepted, ofRefused } from './failures.ts';
import { followUp, type Outcome, toBeAsked } from './follow-up.ts';
import type { Journal } from './journal.ts';
import { isAccepted } from './journal-entries.ts';
import type { Progress } from './progress.ts';
import type { Status } from './report.ts';

/** Of the orders that were refused or lost, as many stand in the report. All that differ or repeat an id do. */
const SHOWN_FAILURES = 5;

type FinishDependencies = Parameters<typeof followUp>[1];

/**
 * The outcome of all orders of all runs, and whether any is still open; writes down those that are not on the list as they
 * stand in the input.
 *
 * @param input.count how many orders the input has; `repeated` has the places of those whose source_order_id an earlier one has.
 */
export async function finishRun(
  journal: Journal,
  file: FailureFile,
  means: FinishDependencies | null,
  progress: Progress,
  { count: of, repeated }: { count: number; repeated: ReadonlyMap<number, number> },
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
  // Codes are whatever the service says, such as `constructor`.
  const refusedByCode = new Map<string, number>();
  let [refused, changed, listed] = [0, 0, 0];
  const failures: FailedOrder[] = [];
  let shown = 0;
  let notAsked: string | null = null;
  const note = (failure: FailedOrder | null) => {
    if (!failure) return;
    const repeats = repeated.get(failure.place);
    const noted = repeats === undefined ? failure : { ...failure, repeats };
    file.add({ ...noted, of });
    listed += 1;
    const isAccepted = failure.status === 'duplicate' || failure.status === 'accepted';
    if (isAccepted || repeats !== undefined || shown++ < SHOWN_FAILURES) failures.push(noted);
    if (isAccepted && failure.code !== 'repeated_id') changed += 1;
    if (failure.status !== 'refused') return;
    refused += 1;
    refusedByCode.set(failure.code, (refusedByCode.get(failure.code) ?? 0) + 1);
  };
  const noteOutcome = (outcome: Outcome) => note(ofAccepted(outcome, repeated.get(outcome.place)));
  async function* withoutRefusals() {
    for await (const results of journal.results()) {
      for (const result of results) note(ofRefused(result));
      yield results.filter(isAccepted);
    }
  }

  if (means) {
    const followed = { known: 0, accepted: 0 };
    for await (const results of journal.results()) followed.accepted += results.filter(isAccepted).length;
    progress.followed = followed;
    const onLost = (why: string) => {
      notAsked = why;
    };
    for await (const outcomes of followUp(withoutRefusals(), means, onLost)) {
      followed.known += outcomes.length;
      for (const outcome of outcomes) {
        statuses[statusOf(outcome)] += 1;
        noteOutcome(outcome);
      }
    }
  } else {
    for await (const accepted of withoutRefusals()) {
      statuses.not_followed += accepted.length;
      accepted.flatMap(toBeAsked).forEach(noteOutcome);
    }
  }
  const hasOpen = statuses.pending + statuses.failed > 0;
  return {
    refused,
    refused_by_code: Object.fromEntries(refusedByCode),
    changed,
    statuses,
    not_asked: notAsked,
    listed,
    failures,
    hasOpen,
  };
}

function statusOf({ status }: Outcome): Status {
  return status === 'received' || status === 'normalized' || status === 'not_asked' ? 'pending' : status;
}
