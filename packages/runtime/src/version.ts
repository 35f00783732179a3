import { readFileSync } from 'node:fs';

const manifest: { version: string } = JSON.parse(
  readFileSync(new URL('../../../package.json', import.meta.url), 'utf8'),
);

/** Of the whole service, as the root `package.json` has it; there is no other. */
export const { version: VERSION } = manifest;
