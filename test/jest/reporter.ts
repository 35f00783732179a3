import type { AggregatedResult, Reporter } from '@jest/reporters';

/** Prints at the end of a run which services it used, and the counts in one line that a script can read. */
export default class Summary implements Pick<Reporter, 'onRunComplete'> {
  onRunComplete(_contexts: Set<unknown>, results: AggregatedResult): void {
    const { TEST_DATABASE: database, TEST_QUEUES: queues } = process.env;
    process.stdout.write(`\nRan on ${database}; the queue on: ${queues}.\n`);
    const failed = results.numFailedTests + results.numRuntimeErrorTestSuites;
    process.stdout.write(`${results.numPassedTests} passed, ${failed} failed, ${results.numPendingTests} skipped\n`);
  }
}
