import type { AggregatedResult, Reporter } from '@jest/reporters';

/** Prints at the end of a run which services it used, and the counts in one line that a script can read. */
export default class Summary implements Pick<Reporter, 'onRunComplete'> {
  onRunComplete(_contexts: Set<unknown>, results: AggregatedResult): void {
    const { TEST_DATABASE: database, TEST_QUEUES: queues } = process.env;
    process.stdout.write(`\nRan on ${database}; the queue on: ${queues}.\n`);
    for (const { testResults } of results.testResults)
      for (const { status, invocations = 1, fullName } of testResults)
        if (status === 'passed' && invocations > 1) process.stdout.write(`Passed at the second try: ${fullName}\n`);
    const failed = results.numFailedTests + results.numRuntimeErrorTestSuites;
    process.stdout.write(`${results.numPassedTests} passed, ${failed} failed, ${results.numPendingTests} skipped\n`);
  }
}
