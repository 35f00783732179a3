import { useQuery, useQueryClient } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import { call } from '../../api/client.ts';
import type { RedrivePreview } from '../../api/receipts.ts';
import { useAccountId } from '../../api/session.ts';
import { Mono } from '../../components/card.tsx';
import { FormDialog } from '../../components/form-dialog.tsx';
import { Loaded } from '../../components/loaded.tsx';
import { useNotices } from '../../components/notices.tsx';
import { useAction } from '../../components/use-action.ts';
import { useShowProblem } from '../../components/use-show-problem.ts';

/** Who may redrive: it writes orders, and repeats what a developer has corrected. */
export const REDRIVE = ['review', 'develop'] as const;

/**
 * Previews a redrive and performs it.
 *
 * @param path the API path of a receipt or of the dead letters.
 */
export function RedriveDialog(props: { path: string; body?: Record<string, string>; onClose: () => void }): ReactNode {
  const { path, body = {}, onClose } = props;
  const { t } = useTranslation('receipts');
  const accountId = useAccountId();
  const queryClient = useQueryClient();
  const { show } = useNotices();
  const showProblem = useShowProblem();
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
    onError: showProblem,
    onSettled: () => {
      void queryClient.invalidateQueries({ queryKey: ['receipts', accountId] });
      onClose();
    },
  });
  return (
    <FormDialog
      title={t('redrive.title')}
      submit={t('redrive.submit', { count: preview.data?.matching ?? 0 })}
      action={redrive}
      isExplained
      isIncomplete={!preview.data?.matching}
      onClose={onClose}
    >
      <p>{t('redrive.about')}</p>
      <div aria-live="polite" className="stack">
        <Loaded query={preview} skeleton={<p className="hint">{t('redrive.trying')}</p>}>
          {(outcome) => <Outcome preview={outcome} />}
        </Loaded>
      </div>
    </FormDialog>
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
            {t('redrive.failing', { count })} <Mono>{sqlstate ? `${code} ${sqlstate}` : code}</Mono>
          </li>
        ))}
        {undecided > 0 && <li>{t('redrive.undecided', { count: undecided })}</li>}
      </ul>
      {tried < matching && <p className="hint">{t('redrive.capped', { tried, matching })}</p>}
    </>
  );
}
