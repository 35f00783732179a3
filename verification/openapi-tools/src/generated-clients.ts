import { execFileSync } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { exactDocument, openApiDocument } from '@orders/intake/docs/openapi/document.ts';
import { asOfLaterVersion } from './later-version.ts';

const HELP = `Usage: npm run test:generators

Generates clients from the OpenAPI document with hey-api and orval, and checks with their schemas (zod) that they accept the
replies of a later version: the examples of the document with more members, other codes and types, and ids of another form. The
same clients, generated from the exact document, must reject each of them. The generators bring 300 packages, so they are
installed from the registry into a temporary directory. It takes two minutes.

Exit codes: 0 all is well, 1 it is not, 2 wrong usage.
`;

const PACKAGES = ['@hey-api/openapi-ts@0.95.0', 'orval@7.13.2', 'zod@4.6.7', 'typescript@5.9.3'];
const HEY_API = ['node_modules/@hey-api/openapi-ts/bin/run.js', '-p', '@hey-api/typescript', 'zod'];
const ORVAL = ['node_modules/orval/dist/bin/orval.js', '--client', 'zod'];

interface Operation {
  operationId: string;
  responses: Record<string, { content?: Record<string, { examples?: Record<string, { value: unknown }> }> }>;
}

/** The examples of successful replies, by operation and status. */
function examplesOf(document: object): [operation: string, status: string, value: unknown][] {
  const { paths } = document as { paths: Record<string, Record<string, Operation>> };
  return Object.values(paths)
    .flatMap((path) => Object.values(path))
    .flatMap(({ operationId, responses }) =>
      Object.entries(responses)
        .filter(([status]) => status.startsWith('2'))
        .flatMap(([status, { content }]) =>
          Object.values(content?.['application/json']?.examples ?? {}).map(({ value }): [string, string, unknown] => [
            operationId,
            status,
            value,
          ]),
        ),
    );
}

type Schemas = Record<string, { safeParse(value: unknown): { success: boolean; error?: unknown } } | undefined>;

/** Generates both clients into a directory and loads their schemas. */
async function generate(directory: string, name: string, document: object): Promise<Record<string, Schemas>> {
  const node = (args: string[]) =>
    execFileSync(process.execPath, args, { cwd: directory, stdio: ['ignore', 'ignore', 'inherit'] });
  await writeFile(join(directory, `${name}.json`), JSON.stringify(document));
  node([...HEY_API, '-i', `${name}.json`, '-o', `${name}-hey`]);
  node([...ORVAL, '--input', `./${name}.json`, '--output', `./${name}-orval.ts`]);
  return {
    'hey-api': await import(join(directory, `${name}-hey/zod.gen.ts`)),
    orval: await import(join(directory, `${name}-orval.ts`)),
  };
}

async function check(directory: string): Promise<string[]> {
  process.stdout.write('installs the generators\n');
  execFileSync('npm', ['install', '--silent', '--no-audit', '--no-fund', '--ignore-scripts', ...PACKAGES], {
    cwd: directory,
    stdio: 'inherit',
  });
  process.stdout.write('generates clients\n');
  const published = await generate(directory, 'published', openApiDocument(''));
  const exact = await generate(directory, 'exact', exactDocument(''));
  const wrong: string[] = [];
  for (const generator of ['hey-api', 'orval']) {
    let checked = 0;
    for (const [operation, status, value] of examplesOf(exactDocument(''))) {
      // Orval makes schemas of 200 alone.
      if (generator === 'orval' && status !== '200') continue;
      const schema =
        generator === 'orval' ? `${operation}Response` : `z${operation[0]?.toUpperCase()}${operation.slice(1)}Response`;
      const [open, closed] = [published[generator]?.[schema], exact[generator]?.[schema]];
      if (!open || !closed) continue;
      checked++;
      const later = asOfLaterVersion(value);
      if (!open.safeParse(later).success)
        wrong.push(`${generator} rejects a later reply to ${operation}: ${open.safeParse(later).error}`);
      if (!closed.safeParse(value).success) wrong.push(`${generator}, exact, rejects the example of ${operation}`);
      if (closed.safeParse(later).success) wrong.push(`${generator}, exact, accepts a later reply to ${operation}`);
    }
    process.stdout.write(`${generator}: ${checked} replies\n`);
    if (checked < 5) wrong.push(`${generator} has schemas for ${checked} replies only`);
  }
  return wrong;
}

const { values } = parseArgs({ options: { help: { type: 'boolean' } } });
if (values.help) process.stdout.write(HELP);
else {
  const directory = await mkdtemp(join(tmpdir(), 'orders-generators-'));
  try {
    await writeFile(join(directory, 'package.json'), '{ "type": "module" }');
    const wrong = await check(directory);
    for (const line of wrong) process.stderr.write(`test:generators: ${line}\n`);
    process.exitCode = wrong.length > 0 ? 1 : 0;
  } finally {
    await rm(directory, { recursive: true });
  }
}
