import { writeFileSync } from 'node:fs';
import { openApiDocument } from '../../../apps/intake/src/docs/openapi/document.ts';
import { typesOf } from './types-of.ts';

/** Where the types of what is sent and answered are. */
export const TYPES_FILE = new URL('../src/openapi.ts', import.meta.url);

/** What that file has to hold. */
export function currentTypes(): string {
  return typesOf(openApiDocument('') as Parameters<typeof typesOf>[0]);
}

if (import.meta.main) writeFileSync(TYPES_FILE, currentTypes());
