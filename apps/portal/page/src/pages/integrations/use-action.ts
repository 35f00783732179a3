import { type UseMutationResult, useMutation } from '@tanstack/react-query';

/** A mutation without arguments and result. A result would stay in the cache, so an action must pass a secret on instead of returning it. */
export function useAction(action: () => Promise<void>): UseMutationResult<void, Error, void> {
  return useMutation({ mutationFn: action });
}
