import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { basename, join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from '@jest/globals';
import { baseEnvironment } from '@orders/test-services/child.ts';
import { makeDirectory } from '../harness/directory.ts';
import { testWith } from '../harness/programs.ts';

const ROOT = resolve(import.meta.dirname, '../..');
const MAIN = resolve(ROOT, 'verification/bench/src/main.ts');
const run = (...args: string[]) =>
  promisify(execFile)(process.execPath, [MAIN, ...args], { env: baseEnvironment() }).then(
    ({ stdout, stderr }) => ({ code: 0, stdout, stderr }),
    ({ code, stdout, stderr }) => ({ code, stdout, stderr }),
  );

testWith('redis-server')(
  'a run measures, verifies every order, compares with a checkout, draws a chart and writes its results',
  async () => {
    const directory = makeDirectory();
    const other = basename(ROOT);
    const [json, chart] = [join(directory, 'figures.json'), join(directory, 'chart.svg')];
    const options = [
      '--only ours --loads 128 --rounds 1 --seconds 1',
      '--beside',
      ROOT,
      '--json',
      json,
      '--chart',
      chart,
    ];
    const { code, stdout } = await run(...options.flatMap((option) => option.split(' ')));
    expect(code).toBe(0);
    expect(stdout).toContain('Closed loop, 128 connections');
    expect(stdout).toMatch(new RegExp(`load 128: CPU of intake per order, ours ÷ ${other} .*\\d`));
    const { measurements } = JSON.parse(await readFile(json, 'utf8'));
    expect(measurements).toMatchObject(
      ['ours', other].map((contestant) => ({ contestant, load: '128', faults: [], deadlocks: 0 })),
    );
    for (const { accepted } of measurements) expect(accepted).toBeGreaterThan(50);
    expect(await readFile(chart, 'utf8')).toMatch(/^<svg.*>ours</s);
  },
);

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
