import { writeFileSync } from 'node:fs';
import { exactDocument } from '../../../apps/intake/src/docs/openapi/document.ts';
import { typesOf } from './types-of.ts';

/** The file with the types of requests and replies. */
export const TYPES_FILE = new URL('../src/openapi.ts', import.meta.url);

/** The required content of that file. */
export function currentTypes(): string {
  return typesOf(exactDocument('') as Parameters<typeof typesOf>[0]);
}

if (import.meta.main) writeFileSync(TYPES_FILE, currentTypes());
