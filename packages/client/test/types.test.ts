import { readFileSync } from 'node:fs';
import { expect, test } from '@jest/globals';
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
