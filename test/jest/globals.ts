import type * as Jest from '@jest/globals';
import { testGlobals } from './runtime.ts';

/** What a test file gets from `@jest/globals`. Loaded once per test file. */
export const { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, jest, test } =
  testGlobals() as typeof Jest;
