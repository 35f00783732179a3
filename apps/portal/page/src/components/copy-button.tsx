import type { ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import { useCopy } from './use-copy.ts';

/** Copies a string and confirms it. `isFirst`: has the focus when its dialog opens. */
export function CopyButton(props: {
  text: string;
  label?: string;
  isFirst?: boolean;
  onCopied?: () => void;
}): ReactNode {
  const { text, label, isFirst, onCopied } = props;
  const { t } = useTranslation();
  const { isCopied, copy } = useCopy(text, onCopied);
  return (
    <button type="button" className="button" data-autofocus={isFirst ? true : undefined} onClick={() => void copy()}>
      <span aria-live="polite">{isCopied ? t('action.copied') : (label ?? t('action.copy'))}</span>
    </button>
  );
}
