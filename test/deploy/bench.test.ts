import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from '@jest/globals';
import { baseEnvironment } from '@orders/test-services/child.ts';
import { makeDirectory } from '../harness/directory.ts';
import { testWith } from '../harness/programs.ts';

const MAIN = resolve(import.meta.dirname, '../../verification/bench/src/main.ts');
const run = (...args: string[]) =>
  promisify(execFile)(process.execPath, [MAIN, ...args], { env: baseEnvironment() }).then(
    ({ stdout, stderr }) => ({ code: 0, stdout, stderr }),
    ({ code, stdout, stderr }) => ({ code, stdout, stderr }),
  );

testWith('redis-server')('a run measures, verifies every order, draws a chart and writes its results', async () => {
  const directory = makeDirectory();
  const [json, chart] = [join(directory, 'figures.json'), join(directory, 'chart.svg')];
  const options = [
    '--only',
    'ours',
    '--loads',
    '128',
    '--rounds',
    '1',
    '--seconds',
    '1',
    '--json',
    json,
    '--chart',
    chart,
  ];
  const { code, stdout } = await run(...options);
  expect(code).toBe(0);
  expect(stdout).toContain('Closed loop, 128 connections');
  const { measurements } = JSON.parse(await readFile(json, 'utf8'));
  expect(measurements).toMatchObject([{ contestant: 'ours', load: '128', faults: [], deadlocks: 0 }]);
  expect(measurements[0].accepted).toBeGreaterThan(50);
  expect(await readFile(chart, 'utf8')).toMatch(/^<svg.*>ours</s);
});

test.each([
  ['--only nobody', /"nobody" is not one of ceiling,/],
  ['--loads fast', /"fast" is not a load/],
  ['--rounds 0', /whole number above zero/],
  ['footprint --rounds some', /whole number above zero/],
])('wrong usage causes one line and exit code 2: %s', async (args, message) => {
  const { code, stderr } = await run(...args.split(' '));
  expect(code).toBe(2);
  expect(stderr.trim()).toMatch(message);
  expect(stderr.trim().split('\n')).toHaveLength(1);
});
