import { useState } from 'react';

/** Something that is under way once at a time, and what it failed with. Unlike a mutation it keeps no result anywhere. */
export interface Doing {
  isBusy: boolean;
  error: unknown;
  run(work: () => Promise<void>): void;
}

export function useAction(): Doing {
  const [isBusy, setBusy] = useState(false);
  const [error, setError] = useState<unknown>(null);
  return {
    isBusy,
    error,
    run(work) {
      setBusy(true);
      setError(null);
      work().then(
        () => setBusy(false),
        (failure: unknown) => {
          setBusy(false);
          setError(failure);
        },
      );
    },
  };
}
