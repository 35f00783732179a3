import { copyFile, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import openapiTS, { astToString } from 'openapi-typescript';
import { runScript } from './run-tool.ts';

const COMPILER = fileURLToPath(import.meta.resolve('typescript/bin/tsc'));
const PACKAGE = resolve(import.meta.dirname, '..');
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
