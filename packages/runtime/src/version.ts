import { readFileSync } from 'node:fs';

const manifest: { version: string } = JSON.parse(
  readFileSync(new URL('../../../package.json', import.meta.url), 'utf8'),
);

/** Version of the whole service, from the root `package.json`. */
export const { version: VERSION } = manifest;
