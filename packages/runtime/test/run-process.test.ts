import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { expect, test } from '@jest/globals';

const source = (path: string) => new URL(`../src/${path}`, import.meta.url).href;
const run = (script: string) => promisify(execFile)(process.execPath, ['--input-type=module', '--eval', script]);
const parseLines = (stdout: string) =>
  stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));

/** A database error that is full of personal data. */
const LEAKY_ERROR = `Object.assign(new Error('0501234567\\n    at 0501234567'), { code: '23514', detail: '0501234567', input: '0501234567' })`;

test.each([
  ['while the service is created', `() => { throw ${LEAKY_ERROR}; }`],
  ['at the start', `() => ({ ...ready, service: { start: async () => { throw ${LEAKY_ERROR}; } } })`],
  [
    'that is not caught',
    `() => ({ ...ready, service: { start: async () => void setImmediate(() => { throw ${LEAKY_ERROR}; }) } })`,
  ],
  [
    'in a promise that is not awaited',
    `() => ({ ...ready, service: { start: async () => void Promise.reject(${LEAKY_ERROR}) } })`,
  ],
])('an error %s ends the process with exit code 1, and no personal data is logged', async (_when, create) => {
  const script = `
    import { createLogger } from '${source('observability/logger.ts')}';
    import { runProcess } from '${source('lifecycle/run-process.ts')}';
    const ready = { logger: createLogger({ service: 'test', level: 'debug', format: 'json' }), drainTimeout: 1000 };
    setTimeout(() => {}, 20_000);
    await runProcess(${create});`;
  const { code, stdout, stderr } = await run(script).catch((error) => error);
  expect(code).toBe(1);
  const output = `${stdout}${stderr}`;
  expect(output.trim().split('\n')).toHaveLength(1);
  expect(output).toContain('"error":{"name":"Error","code":"23514","at":["at '.slice(8));
  expect(output).not.toContain('0501234567');
});

test('what libraries print and Node warns of is logged once each, as lines of the log and without outside data', async () => {
  const script = `
    import { runApp } from '${source('lifecycle/run-process.ts')}';
    const config = { LOG_LEVEL: 'info', LOG_FORMAT: 'json', DRAIN_TIMEOUT: 1000 };
    const service = { async start() {
      for (let time = 0; time < 2; time += 1) console.warn('IMPORTANT! Eviction policy is %s', 'allkeys-lru');
      console.error(${LEAKY_ERROR});
      console.log('an object', { phone: '0501234567' });
      process.emitWarning('old', 'DeprecationWarning');
      setImmediate(() => process.kill(process.pid, 'SIGTERM'));
    }, async close() {} };
    setTimeout(() => {}, 20_000);
    await runApp('test', () => config, () => service);`;
  const { stdout, stderr } = await run(script);
  expect(stderr).toBe('');
  expect(parseLines(stdout)).toMatchObject([
    { level: 'warn', service: 'test', message: 'a library says', text: 'IMPORTANT! Eviction policy is allkeys-lru' },
    { level: 'error', text: '', error: { name: 'Error', code: '23514' } },
    { level: 'info', text: 'an object' },
    { level: 'warn', text: 'DeprecationWarning: old' },
    { message: 'draining' },
    { message: 'drained' },
  ]);
  expect(stdout).not.toContain('0501234567');
});

test('pending lines are written when the process exits', async () => {
  const script = `
    import { createLogger } from '${source('observability/logger.ts')}';
    const logger = createLogger({ service: 'test', level: 'info', format: 'json' });
    for (let number = 1; number <= 1000; number += 1) logger.info('line', { number });
    logger.debug('not wanted');
    process.exit(3);`;
  const { code, stdout } = await run(script).catch((error) => error);
  expect(code).toBe(3);
  const lines = parseLines(stdout);
  expect(lines.map(({ number }) => number)).toEqual(Array.from({ length: 1000 }, (_, index) => index + 1));
  expect(lines[0]).toEqual({
    service: 'test',
    level: 'info',
    message: 'line',
    number: 1,
    timestamp: expect.any(String),
  });
});
