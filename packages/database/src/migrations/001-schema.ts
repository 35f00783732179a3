import { readSchema } from '../schema/read-schema.ts';

export const name = '001-schema';

export const up = readSchema();
