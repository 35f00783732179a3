import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { expect, test } from '@jest/globals';

const SOURCE = new URL('../src/index.ts', import.meta.url).href;

/** An error as a database throws it: all over it, what nobody may read in a log. */
const TELLTALE = `Object.assign(new Error('0501234567\\n    at 0501234567'), { code: '23514', detail: '0501234567', input: '0501234567' })`;

test.each([
  ['while the service is put together', `() => { throw ${TELLTALE}; }`],
  ['at the start', `() => ({ ...ready, service: { start: async () => { throw ${TELLTALE}; } } })`],
  [
    'and nobody caught it',
    `() => ({ ...ready, service: { start: async () => void setImmediate(() => { throw ${TELLTALE}; }) } })`,
  ],
  ['and nobody awaited it', `() => ({ ...ready, service: { start: async () => void Promise.reject(${TELLTALE}) } })`],
])('an error %s ends the process with 1, and only what may be known of it is said', async (_when, create) => {
  const script = `
    import { createLogger, runProcess } from '${SOURCE}';
    const ready = { logger: createLogger({ service: 'test', level: 'debug', format: 'json' }), drainTimeout: 1000 };
    setTimeout(() => {}, 20_000);
    await runProcess(${create});`;
  const run = promisify(execFile)(process.execPath, ['--input-type=module', '--eval', script]);
  const { code, stdout, stderr } = await run.catch((error) => error);
  expect(code).toBe(1);
  const said = `${stdout}${stderr}`;
  expect(said.trim().split('\n')).toHaveLength(1);
  expect(said).toContain('"error":{"name":"Error","code":"23514","at":["at '.slice(8));
  expect(said).not.toContain('0501234567');
});
