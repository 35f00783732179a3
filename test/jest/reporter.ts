import type { AggregatedResult, Reporter } from '@jest/reporters';

/** Debian's package of a program, where the names differ. */
const PACKAGES: Record<string, string> = {
  chromium: 'chromium-headless-shell',
  php: 'php-cli',
  promtool: 'prometheus',
};

/** Marks the title of a test that is skipped. */
const NEEDS = /\[needs ([^\]]+)\]/;

/** Prints at the end of a run which services it used, what it skipped for want of a program, and the counts in a line that a script can read. */
export default class Summary implements Pick<Reporter, 'onRunComplete'> {
  onRunComplete(_contexts: Set<unknown>, results: AggregatedResult): void {
    const { TEST_DATABASE: database, TEST_QUEUES: queues, TEST_ALL: all } = process.env;
    process.stdout.write(`\nRan on ${database}; the queue on: ${queues}.\n`);
    const skipped = new Map<string, number>();
    for (const { status, fullName } of results.testResults.flatMap(({ testResults }) => testResults)) {
      const needed = status === 'pending' && NEEDS.exec(fullName)?.[1];
      if (needed) skipped.set(needed, (skipped.get(needed) ?? 0) + 1);
    }
    if (skipped.size > 0) {
      const counts = [...skipped].map(([needed, count]) => `${count} need ${needed}`);
      const packages = new Set(
        [...skipped.keys()].flatMap((needed) => needed.split(', ')).map((name) => PACKAGES[name] ?? name),
      );
      process.stdout.write(`skipped: ${counts.join('; ')} (apt-get install ${[...packages].join(' ')})\n`);
    }
    if (all !== 'on') process.stdout.write('Pages, faults, floods, deployments and guides: npm run test:all.\n');
    const failed = results.numFailedTests + results.numRuntimeErrorTestSuites;
    process.stdout.write(`${results.numPassedTests} passed, ${failed} failed, ${results.numPendingTests} skipped\n`);
  }
}
