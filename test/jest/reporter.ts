import type { AggregatedResult, Reporter } from '@jest/reporters';

/** Ends a run with what it ran on, and with one line that any tool can count by. */
export default class Summary implements Pick<Reporter, 'onRunComplete'> {
  onRunComplete(_contexts: Set<unknown>, results: AggregatedResult): void {
    const { TEST_DATABASE: database, TEST_QUEUES: queues } = process.env;
    process.stdout.write(`\nRan on ${database}; the queue on: ${queues}.\n`);
    const failed = results.numFailedTests + results.numRuntimeErrorTestSuites;
    process.stdout.write(`${results.numPassedTests} passed, ${failed} failed, ${results.numPendingTests} skipped\n`);
  }
}
