import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { expect, test } from '@jest/globals';

const SOURCE = new URL('../src/observability/logger.ts', import.meta.url).href;

test('pending lines are written when the process exits', async () => {
  const script = `
    import { createLogger } from '${SOURCE}';
    const logger = createLogger({ service: 'test', level: 'info', format: 'json' });
    for (let number = 1; number <= 1000; number += 1) logger.info('line', { number });
    logger.debug('not wanted');
    process.exit(3);`;
  const run = promisify(execFile)(process.execPath, ['--input-type=module', '--eval', script]);
  const { code, stdout } = await run.catch((error) => error);
  expect(code).toBe(3);
  const lines: { number: number; message: string }[] = stdout
    .trim()
    .split('\n')
    .map((line: string) => JSON.parse(line));
  expect(lines.map(({ number }) => number)).toEqual(Array.from({ length: 1000 }, (_, index) => index + 1));
  expect(lines[0]).toEqual({
    service: 'test',
    level: 'info',
    message: 'line',
    number: 1,
    timestamp: expect.any(String),
  });
});
