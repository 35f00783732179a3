import { useMutation } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import { Dialog } from '../../parts/dialog.tsx';
import { ProblemNote } from '../../parts/problem-note.tsx';

/** Asks before something that hurts; stays open when it fails, and says why. */
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
  const { t } = useTranslation();
  const act = useMutation({ mutationFn: action, onSuccess: onClose });
  return (
    <Dialog title={title} onClose={onClose}>
      <div className="stack">
        <p>{text}</p>
        {act.isError && <ProblemNote error={act.error} />}
        <div className="row">
          <button type="button" className="button button-bad" disabled={act.isPending} onClick={() => act.mutate()}>
            {label}
          </button>
          <button type="button" className="button" onClick={onClose}>
            {t('action.cancel')}
          </button>
        </div>
      </div>
    </Dialog>
  );
}
