import { useState } from 'react';

interface Action<Args extends unknown[]> {
  isBusy: boolean;
  /** Null unless the last run failed. */
  error: unknown;
  run(...args: Args): void;
}

/** Runs an async action and tracks its state. Unlike `useMutation`, it keeps no result or arguments in a cache, so secrets can pass. */
export function useAction<Args extends unknown[]>(action: (...args: Args) => Promise<void>): Action<Args> {
  const [isBusy, setBusy] = useState(false);
  const [error, setError] = useState<unknown>(null);
  return {
    isBusy,
    error,
    run(...args) {
      setBusy(true);
      setError(null);
      action(...args).then(
        () => setBusy(false),
        (failure: unknown) => {
          setBusy(false);
          setError(failure);
        },
      );
    },
  };
}
