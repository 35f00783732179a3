import { describe, expect, test } from '@jest/globals';
import { PROBLEMS, Problem } from '../src/problems.ts';
import { FINAL_STATES, isFinal, RECEIPT_STATES } from '../src/receipt-states.ts';

describe('Problem', () => {
  test('takes status, title and detail from the catalogue', () => {
    const problem = new Problem('receipt_not_found');
    expect(problem).toMatchObject({ code: 'receipt_not_found', status: 404, title: 'Receipt not found' });
    expect(problem.detail).toBe(PROBLEMS.receipt_not_found.detail);
    expect(problem.errors).toBeUndefined();
    expect(problem.headers).toBeUndefined();
  });

  test('accepts a more specific detail and a list of errors', () => {
    const errors = [{ pointer: '/source_order_id', code: 'required', detail: 'missing' }];
    expect(new Problem('validation_failed', { detail: 'Look here.', errors })).toMatchObject({
      message: 'Look here.',
      detail: 'Look here.',
      errors,
    });
  });

  test('adds headers to those of the catalogue', () => {
    expect(new Problem('invalid_api_key', { headers: { 'X-Hint': '1' } }).headers).toEqual({
      'WWW-Authenticate': 'Bearer error="invalid_token"',
      'X-Hint': '1',
    });
    expect(new Problem('missing_signature').headers).toBeUndefined();
  });
});

test('the final states of a receipt are written, duplicate and dead', () => {
  expect(RECEIPT_STATES.filter(isFinal)).toEqual([...FINAL_STATES]);
});
