// biome-ignore lint/style/noRestrictedImports: this is what all others use instead.
import { hashKey, type UseMutationOptions, type UseMutationResult, useMutation } from '@tanstack/react-query';
import { useCallback, useRef } from 'react';

/** The longest time between the clicks of a double click, in milliseconds. */
export const DOUBLE_CLICK_MS = 500;

/**
 * A mutation that each person's submission runs once. `isPending` is true only after a render; this ignores the same input from the first
 * call on, while it runs and until a double click is over. The cache of mutations keeps a result, so a secret is passed on instead of returned.
 */
export function useAction<Result = unknown, Input = void>(
  options: UseMutationOptions<Result, Error, Input>,
): UseMutationResult<Result, Error, Input> {
  const running = useRef(new Set<string>());
  const succeeded = useRef({ input: '', at: Number.NEGATIVE_INFINITY });
  const { mutate, ...mutation } = useMutation({
    ...options,
    onSettled: async (...args) => {
      await options.onSettled?.(...args);
      const [, error, input] = args;
      running.current.delete(hashKey([input]));
      if (!error) succeeded.current = { input: hashKey([input]), at: performance.now() };
    },
  });
  const submit = useCallback<typeof mutate>(
    (...args) => {
      const input = hashKey([args[0]]);
      const last = succeeded.current;
      if (running.current.has(input) || (last.input === input && performance.now() - last.at < DOUBLE_CLICK_MS)) return;
      running.current.add(input);
      mutate(...args);
    },
    [mutate],
  );
  return { ...mutation, mutate: submit } as UseMutationResult<Result, Error, Input>;
}
