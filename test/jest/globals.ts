import type * as Jest from '@jest/globals';
import { testGlobals } from './runtime.ts';

/** The module `@jest/globals` of a test file. Loaded once per test file. */
export const { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, jest, test } =
  testGlobals() as typeof Jest;
