import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { baseEnvironment } from '@orders/test-services/child.ts';

/** Runs a script with this Node and returns its output. @throws {Error} with its output if it fails. */
export async function runScript(script: string, args: string[], env: Record<string, string> = {}): Promise<string> {
  const options = { env: { ...baseEnvironment(), ...env } };
  try {
    return (await promisify(execFile)(process.execPath, [script, ...args], options)).stdout;
  } catch (error) {
    const { stdout, stderr } = error as { stdout: string; stderr: string };
    throw new Error(`${script}\n${stdout}\n${stderr}`);
  }
}
