import { execFile } from 'node:child_process';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from '@jest/globals';
import { describeWith } from '../harness/programs.ts';

describeWith('openssl', 'python3')('the Python client', () => {
  test('passes its own tests', async () => {
    const script = join(import.meta.dirname, 'python-client.py');
    const client = resolve(import.meta.dirname, '../../packages/client/python');
    // It fails with what the tests print.
    const { stderr } = await promisify(execFile)('python3', [script, client]);
    expect(stderr).toMatch(/^OK$/m);
  });
});
