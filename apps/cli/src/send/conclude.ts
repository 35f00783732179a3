import { type FailedOrder, type FailureFile, ofAccepted, ofRefused } from './failures.ts';
import { followUp, type Outcome } from './follow-up.ts';
import type { Journal } from './journal.ts';
import { isAccepted } from './journal-entries.ts';
import type { Progress } from './progress.ts';
import type { Status } from './report.ts';

/** Of the failures, as many stand in the report. */
const SHOWN_FAILURES = 5;

type Means = Parameters<typeof followUp>[1];

/** What became of all orders of all runs, and whether anything of it is still open; writes down those that failed. */
export async function conclude(
  journal: Journal,
  file: FailureFile,
  means: Means | null,
  progress: Progress,
  of: number,
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
  let refused = 0;
  const failures: FailedOrder[] = [];
  let notAsked: string | null = null;
  const note = (failure: FailedOrder | null) => {
    if (!failure) return;
    file.add({ ...failure, of });
    if (failures.length < SHOWN_FAILURES) failures.push(failure);
    if (failure.status !== 'refused') return;
    refused += 1;
    refusedByCode.set(failure.code, (refusedByCode.get(failure.code) ?? 0) + 1);
  };
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
        note(ofAccepted(outcome));
      }
    }
  } else for await (const accepted of withoutRefusals()) statuses.not_followed += accepted.length;
  const hasOpen = statuses.pending + statuses.failed > 0;
  return {
    refused,
    refused_by_code: Object.fromEntries(refusedByCode),
    statuses,
    not_asked: notAsked,
    failures,
    hasOpen,
  };
}

function statusOf({ status }: Outcome): Status {
  return status === 'received' || status === 'normalized' || status === 'not_asked' ? 'pending' : status;
}
