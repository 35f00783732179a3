import { once } from 'node:events';
import { chmod, mkdir, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { delimiter, join, resolve } from 'node:path';
import { json, text } from 'node:stream/consumers';
import { startChild } from '@orders/test-services/child.ts';
import { listen } from './listen.ts';

const CLI = resolve(import.meta.dirname, '../../apps/cli/src/main.ts');

/** A call of a fake program. `stdin` is empty unless an argument tells kubectl to read it. */
export interface Call {
  program: string;
  args: string[];
  stdin: string;
  cwd: string;
}
export interface Result {
  code: number;
  stdout?: string;
  stderr?: string;
}

/** Programs for the PATH: fake ones, whose calls are handled in this process, and `orders` of this clone. */
export interface StandInPrograms {
  /** Runs a command with these programs first on its PATH, and waits for its end. */
  run(
    command: string[],
    options: { env?: Record<string, string>; stdin?: string; cwd?: string },
  ): Promise<Required<Result>>;
  close(): Promise<void>;
}

export async function standInPrograms(
  directory: string,
  handleCall: (call: Call) => Promise<Result>,
  fakes: readonly string[] = ['kubectl'],
): Promise<StandInPrograms> {
  const server = createServer(async (request, response) => {
    const failed = (error: Error): Result => ({ code: 1, stderr: `${error.message}\n` });
    response.end(JSON.stringify(await handleCall((await json(request)) as Call).catch(failed)));
  });
  const { port, close } = await listen(server);
  await mkdir(directory);
  const client = `#!${process.execPath}\n${CLIENT.replace('PORT', String(port))}`;
  const programs = {
    ...Object.fromEntries(fakes.map((name) => [name, client])),
    orders: `#!/bin/sh\nexec ${process.execPath} ${CLI} "$@"\n`,
  };
  for (const [name, source] of Object.entries(programs)) {
    await writeFile(join(directory, name), source);
    await chmod(join(directory, name), 0o755);
  }
  const PATH = `${directory}${delimiter}${process.env.PATH}`;
  return {
    async run([program = '', ...args], { env = {}, stdin = '', cwd }) {
      const options = { env: { ...env, PATH }, stdio: 'pipe' as const, ...(cwd && { cwd }) };
      const { process: child } = await startChild(program, args, options);
      child.stdin?.end(stdin);
      const [stdout, stderr, [code]] = await Promise.all([
        text(child.stdout as NodeJS.ReadableStream),
        text(child.stderr as NodeJS.ReadableStream),
        once(child, 'exit'),
      ]);
      return { code, stdout, stderr };
    },
    close,
  };
}

/** Sends its arguments and its standard input to the test. */
const CLIENT = `
const { readFileSync, writeSync } = require('node:fs');
const { basename } = require('node:path');
const [program, args] = [basename(process.argv[1]), process.argv.slice(2)];
const stdin = args.includes('/dev/stdin') || args.includes('--stdin') ? readFileSync(0, 'utf8') : '';
fetch('http://127.0.0.1:PORT', { method: 'POST', body: JSON.stringify({ program, args, stdin, cwd: process.cwd() }) })
  .then((reply) => reply.json())
  .then(({ code, stdout = '', stderr = '' }) => {
    writeSync(1, stdout);
    writeSync(2, stderr);
    process.exitCode = code;
  });
`;
