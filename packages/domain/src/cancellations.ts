import { MAX_CANCELLATIONS, MAX_REASON } from './interface-limits.ts';
import { type FieldError, Problem } from './problems.ts';
import { sourceOrderIdErrors } from './validate-order.ts';

/** A request to cancel an order. */
export interface Cancellation {
  sourceOrderId: string;
  reason: string | null;
}

/**
 * The outcomes of a cancellation (contract, section 2). `cancelled`: it will not be dispatched. `requested`: dispatching has seen it, so
 * that a person decides. `held`: there is no such order yet, and it is cancelled when it arrives. `archived`: the order is so old that it
 * was moved to an archive, and nothing happened.
 */
export const CANCELLATION_OUTCOMES = ['cancelled', 'requested', 'held', 'archived'] as const;
/** Of a platform's cancellation also `outdated`: the platform has changed the order since, by its own clock, and nothing happened. */
export const PLATFORM_CANCELLATION_OUTCOMES = [...CANCELLATION_OUTCOMES, 'outdated'] as const;
export type PlatformCancellationOutcome = (typeof PLATFORM_CANCELLATION_OUTCOMES)[number];

/** Stable code and detail for each error in the form of a request. */
export const CANCELLATION_ERRORS = {
  not_a_list: {
    code: 'not_a_list',
    detail: `cancellations must be a list of 1 to ${MAX_CANCELLATIONS} objects. Send more in several requests.`,
  },
  not_an_object: { code: 'not_an_object', detail: 'A cancellation must be an object with a source_order_id.' },
  both_forms: { code: 'both_forms', detail: 'Send either source_order_id or a list of cancellations, not both.' },
} as const;

/** Stable code and detail for each error of a cancellation's reason. */
export const REASON_ERRORS = {
  not_a_string: { code: 'not_a_string', detail: 'reason must be a string, or absent.' },
  too_long: { code: 'too_long', detail: `reason must be at most ${MAX_REASON} characters long.` },
  control_character: {
    code: 'control_character',
    detail: 'reason must not contain control characters other than tabs and line breaks.',
  },
  lone_surrogate: {
    code: 'lone_surrogate',
    detail: 'reason contains half of a surrogate pair, which is no character.',
  },
} as const;

/** Detail of the problem; its `errors` say more. */
export const CANCELLATION_INVALID = 'The cancellation breaks the rules listed in "errors".';
/** Max errors in a reply. */
const MAX_ERRORS = 100;

/**
 * Reads one cancellation, `{ source_order_id, reason? }`, or a list of 1 to 1,000: `{ cancellations: [...] }`.
 *
 * @throws {Problem} `validation_failed` with the first 100 broken rules in `errors`; then nothing may be cancelled.
 */
export function readCancellations(payload: Record<string, unknown>): { isList: boolean; items: Cancellation[] } {
  const { cancellations: list } = payload;
  if (list === undefined) return { isList: false, items: readAll([payload], () => '') };
  if (payload.source_order_id !== undefined)
    throw invalid([{ pointer: '/source_order_id', ...CANCELLATION_ERRORS.both_forms }]);
  if (!Array.isArray(list) || list.length === 0 || list.length > MAX_CANCELLATIONS)
    throw invalid([{ pointer: '/cancellations', ...CANCELLATION_ERRORS.not_a_list }]);
  return { isList: true, items: readAll(list, (index) => `/cancellations/${index}`) };
}

function readAll(list: readonly unknown[], pointerOf: (index: number) => string): Cancellation[] {
  const errors = list.flatMap((item, index) => errorsIn(item, pointerOf(index)));
  if (errors.length > 0) throw invalid(errors.slice(0, MAX_ERRORS));
  return (list as { source_order_id: string; reason?: string | null }[]).map(({ source_order_id, reason }) => ({
    sourceOrderId: source_order_id,
    reason: reason?.trim() || null,
  }));
}

function errorsIn(item: unknown, pointer: string): FieldError[] {
  if (typeof item !== 'object' || item === null || Array.isArray(item))
    return [{ pointer, ...CANCELLATION_ERRORS.not_an_object }];
  const { source_order_id, reason } = item as Record<string, unknown>;
  const reasonError = reasonErrorOf(reason);
  return [
    ...sourceOrderIdErrors(source_order_id, `${pointer}/source_order_id`),
    ...(reasonError ? [{ pointer: `${pointer}/reason`, ...reasonError }] : []),
  ];
}

function reasonErrorOf(reason: unknown): (typeof REASON_ERRORS)[keyof typeof REASON_ERRORS] | null {
  if (reason === undefined || reason === null) return null;
  if (typeof reason !== 'string') return REASON_ERRORS.not_a_string;
  if (reason.length > 2 * MAX_REASON || [...reason].length > MAX_REASON) return REASON_ERRORS.too_long;
  if (/[^\P{Cc}\t\n\r]/u.test(reason)) return REASON_ERRORS.control_character;
  return reason.isWellFormed() ? null : REASON_ERRORS.lone_surrogate;
}

function invalid(errors: FieldError[]): Problem {
  return new Problem('validation_failed', { detail: CANCELLATION_INVALID, errors });
}
