import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { currentTypes, TYPES_FILE } from '../scripts/generate-types.ts';
import { typesOf } from '../scripts/types-of.ts';

test('the generated types match the OpenAPI document', () => {
  // `npm run client:types` generates them.
  expect(readFileSync(TYPES_FILE, 'utf8')).toBe(currentTypes());
});

const documentOf = (schema: object) => ({ components: { schemas: { One: schema } } });

test('each supported keyword has its type, and an unknown keyword is an error', () => {
  const types = typesOf(
    documentOf({
      type: 'object',
      description: 'Text */ of it.',
      required: ['a', 'c'],
      properties: {
        a: { type: ['string', 'null'] },
        b: { type: 'array', items: { enum: ['x', 'y'] } },
        c: { anyOf: [{ $ref: '#/components/schemas/Two' }, { const: true }] },
        code: { enum: ['known'], description: 'More\n\nthan a line' },
        any: {},
        either: {
          oneOf: [
            { type: 'object', required: ['id'], properties: { id: { type: 'integer' } } },
            { type: 'object', required: ['no'], properties: { no: { type: 'string' } } },
          ],
        },
      },
    }),
  );
  expect(types.split('\n').slice(2).join('\n')).toBe(`/** Text *\\/ of it. */
export type One = {
  a: string | null;
  b?: ("x" | "y")[] | undefined;
  c: Two | true;
  /**
   * More
   *
   * than a line
   */
  code?: "known" | (string & Record<never, never>) | undefined;
  any?: unknown | undefined;
  either?: {
    id: number;
    no?: undefined;
  } | {
    id?: undefined;
    no: string;
  } | undefined;
};
`);
  expect(() => typesOf(documentOf({ type: 'object', patternProperties: {} }))).toThrow('keyword "patternProperties"');
});

const PACKAGE = resolve(import.meta.dirname, '..');
const COMPILER = resolve(PACKAGE, '../../node_modules/typescript/bin/tsc');

let directory: string;
const compile = (...options: string[]) => promisify(execFile)(process.execPath, [COMPILER, ...options]);

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'orders-client-types-'));
  await compile('-p', PACKAGE, '--noEmit', 'false', '--emitDeclarationOnly', '--outDir', join(directory, 'types'));
});
afterAll(() => rm(directory, { recursive: true, force: true }));

/** The declarations of a module and of all modules that it imports. */
async function readDeclarations(module: string, seen = new Map<string, string>()): Promise<Map<string, string>> {
  if (seen.has(module)) return seen;
  const text = await readFile(join(directory, 'types', `${module}.d.ts`), 'utf8');
  seen.set(module, text);
  for (const [, imported] of text.matchAll(/from '\.\/([\w-]+)\.\w+'/g))
    await readDeclarations(imported as string, seen);
  return seen;
}

test('the declarations use Uint8Array without a type parameter, as every TypeScript 5 accepts it', async () => {
  const declarations = await readDeclarations('index');
  expect([...declarations.keys()]).toEqual(expect.arrayContaining(['orders-client', 'options', 'signature']));
  for (const text of declarations.values()) expect(text).not.toContain('Uint8Array<');
});

test('the example for many orders compiles, and errors have a code without a check of their class', async () => {
  const readme = await readFile(join(PACKAGE, 'README.md'), 'utf8');
  const example = /```js\n(for await .*?)```/s.exec(readme)?.[1];
  const source = `
    import { OrdersClient, type Order, type ProblemCode } from './types/index.ts';
    const readOrders = (): Order[] => [];
    const orders = new OrdersClient({ baseUrl: '', apiKey: '' });
    ${example}
    for await (const { error } of orders.submitMany(readOrders())) {
      error?.code satisfies ProblemCode | undefined;
      error?.isRetryable satisfies boolean | undefined;
    }
    export {};`;
  await writeFile(join(directory, 'example.mts'), source);
  const platformOptions = ['--target', 'es2022', '--module', 'nodenext', '--lib', 'es2022,dom', '--types', ''];
  const options = [
    '--ignoreConfig',
    '--strict',
    '--noEmit',
    '--allowImportingTsExtensions',
    ...platformOptions,
    join(directory, 'example.mts'),
  ];
  const result = await compile(...options).catch(({ stdout }) => ({ stdout }));
  expect(result.stdout).toBe('');
});
