import type { ReactNode } from 'react';
import { Dialog } from './dialog.tsx';
import { FormButtons } from './form-buttons.tsx';
import { ProblemNote } from './problem-note.tsx';
import { useAction } from './use-action.ts';

/** Asks before a destructive action. If the action fails, it stays open and shows the error. */
export function Confirm({
  title,
  text,
  label,
  action,
  onClose,
}: {
  title: string;
  text: string;
  label: string;
  action: () => Promise<unknown>;
  onClose: () => void;
}): ReactNode {
  const act = useAction({ mutationFn: action, onSuccess: onClose });
  return (
    <Dialog title={title} onClose={onClose}>
      <form
        className="stack"
        onSubmit={(event) => {
          event.preventDefault();
          act.mutate();
        }}
      >
        <p>{text}</p>
        {act.isError && <ProblemNote error={act.error} />}
        <FormButtons submit={label} isBusy={act.isPending} isDestructive onClose={onClose} />
      </form>
    </Dialog>
  );
}
