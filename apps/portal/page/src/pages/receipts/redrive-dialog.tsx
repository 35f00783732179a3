import { useQuery, useQueryClient } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import { call } from '../../api/client.ts';
import type { RedrivePreview } from '../../api/receipts.ts';
import { useAccountId } from '../../api/session.ts';
import { Dialog } from '../../components/dialog.tsx';
import { useNotices } from '../../components/notices.tsx';
import { ProblemNote, useProblemText } from '../../components/problem-note.tsx';
import { useAction } from '../../components/use-action.ts';

/** Who may redrive: it writes orders, and repeats what a developer has corrected. */
export const REDRIVE = ['review', 'develop'] as const;

/**
 * Previews a redrive and performs it.
 *
 * @param path the API path of a receipt or of the dead letters.
 */
export function RedriveDialog({
  path,
  body = {},
  onClose,
}: {
  path: string;
  body?: Record<string, string>;
  onClose: () => void;
}): ReactNode {
  const { t } = useTranslation('receipts');
  const accountId = useAccountId();
  const queryClient = useQueryClient();
  const { show } = useNotices();
  const textOf = useProblemText();
  const preview = useQuery({
    queryKey: ['redrive-preview', path, body],
    queryFn: ({ signal }) => call<RedrivePreview>('POST', `${path}/redrive-preview`, { body, signal }),
    retry: false,
    staleTime: 0,
    gcTime: 0,
    refetchOnWindowFocus: false,
  });
  const redrive = useAction({
    mutationFn: () => call<{ redriven?: number; left?: number }>('POST', `${path}/redrive`, { body }),
    onSuccess: ({ redriven = 1, left = 0 }) => {
      show({ text: t('redrive.done', { count: redriven }) });
      if (left > 0) show({ text: t('redrive.left', { left }), kind: 'bad', durationMs: 12_000 });
    },
    onError: (error) => show({ text: textOf(error), kind: 'bad' }),
    onSettled: () => {
      void queryClient.invalidateQueries({ queryKey: ['receipts', accountId] });
      onClose();
    },
  });
  return (
    <Dialog title={t('redrive.title')} onClose={onClose}>
      <div className="stack">
        <p>{t('redrive.about')}</p>
        <div aria-live="polite" className="stack">
          {preview.isPending && <p className="hint">{t('redrive.trying')}</p>}
          {preview.isError && <ProblemNote error={preview.error} retry={() => void preview.refetch()} />}
          {preview.data && <Outcome preview={preview.data} />}
        </div>
        <div className="row">
          <button
            type="button"
            className="button button-main"
            disabled={redrive.isPending || !preview.data?.matching}
            onClick={() => redrive.mutate()}
          >
            {t('redrive.submit', { count: preview.data?.matching ?? 0 })}
          </button>
          <button type="button" className="button" onClick={onClose}>
            {t('common:action.cancel')}
          </button>
        </div>
      </div>
    </Dialog>
  );
}

function Outcome({ preview }: { preview: RedrivePreview }): ReactNode {
  const { t } = useTranslation('receipts');
  const { matching, tried, written, duplicate, failing, undecided } = preview;
  return (
    <>
      <ul className="plain stack-tight redrive-outcome">
        <li className={written > 0 ? 'is-good' : ''}>{t('redrive.written', { count: written })}</li>
        {duplicate > 0 && <li>{t('redrive.duplicate', { count: duplicate })}</li>}
        {failing.map(({ code, sqlstate, count }) => (
          <li key={`${code} ${sqlstate}`} className="is-bad">
            {t('redrive.failing', { count })}{' '}
            <bdi dir="ltr" className="mono">
              {sqlstate ? `${code} ${sqlstate}` : code}
            </bdi>
          </li>
        ))}
        {undecided > 0 && <li>{t('redrive.undecided', { count: undecided })}</li>}
      </ul>
      {tried < matching && <p className="hint">{t('redrive.capped', { tried, matching })}</p>}
    </>
  );
}
