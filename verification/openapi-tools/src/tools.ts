import { execFile } from 'node:child_process';
import { copyFile, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { baseEnvironment } from '@orders/test-services/child.ts';
import openapiTS, { astToString } from 'openapi-typescript';

const PACKAGE = resolve(import.meta.dirname, '..');

const REDOCLY = fileURLToPath(import.meta.resolve('@redocly/cli/bin/cli.js'));
const CONFIG = resolve(PACKAGE, 'redocly.yaml');
/** It would report the run to its makers and look for a newer version. */
const OFFLINE = { REDOCLY_TELEMETRY: 'off', REDOCLY_SUPPRESS_UPDATE_NOTICE: 'true' };

/** Runs `redocly lint` on the document at this URL. @throws {Error} that lists the problems, warnings too. */
export async function lintWithRedocly(url: string): Promise<void> {
  await runScript(REDOCLY, ['lint', url, '--config', CONFIG, '--format', 'stylish'], OFFLINE);
}

const COMPILER = fileURLToPath(import.meta.resolve('typescript/bin/tsc'));
const COMPILER_OPTIONS = {
  strict: true,
  skipLibCheck: true,
  target: 'es2024',
  lib: ['es2024', 'dom'],
  module: 'nodenext',
  rewriteRelativeImportExtensions: true,
  verbatimModuleSyntax: true,
  types: [],
};

/**
 * Generates types from an OpenAPI document with openapi-typescript, compiles `sender/sender.ts` with them, and runs it.
 *
 * @returns its output.
 * @throws {Error} with the errors of the compiler or of the program.
 */
export async function runTypedSender(document: object, url: string, key: string): Promise<string> {
  // Below this package, so that the sender finds openapi-fetch.
  const cache = resolve(PACKAGE, 'node_modules/.cache');
  await mkdir(cache, { recursive: true });
  const directory = await mkdtemp(`${cache}/sender-`);
  try {
    const types = astToString(await openapiTS(JSON.stringify(document)));
    await writeFile(`${directory}/openapi.ts`, types);
    await writeFile(`${directory}/tsconfig.json`, JSON.stringify({ compilerOptions: COMPILER_OPTIONS }));
    await writeFile(`${directory}/package.json`, '{ "type": "module" }');
    await copyFile(resolve(PACKAGE, 'sender/sender.ts'), `${directory}/sender.ts`);
    await runScript(COMPILER, ['-p', directory]);
    return await runScript(`${directory}/sender.js`, [url, key]);
  } finally {
    await rm(directory, { recursive: true });
  }
}

/** Runs a script with this Node and returns its output. @throws {Error} with its output if it fails. */
async function runScript(script: string, args: string[], env: Record<string, string> = {}): Promise<string> {
  const options = { env: { ...baseEnvironment(), ...env } };
  try {
    return (await promisify(execFile)(process.execPath, [script, ...args], options)).stdout;
  } catch (error) {
    const { stdout, stderr } = error as { stdout: string; stderr: string };
    throw new Error(`${script}\n${stdout}\n${stderr}`);
  }
}
