import { type ReactNode, useState } from 'react';
import { useTranslation } from 'react-i18next';

/** Copies a string and confirms it. `isFirst`: has the focus when its dialog opens. */
export function CopyButton(props: { text: string; label?: string; isFirst?: boolean }): ReactNode {
  const { text, label, isFirst } = props;
  const { t } = useTranslation();
  const [copied, setCopied] = useState(false);
  const copy = async () => {
    await navigator.clipboard.writeText(text);
    setCopied(true);
    setTimeout(() => setCopied(false), 2000);
  };
  return (
    <button type="button" className="button" data-autofocus={isFirst ? true : undefined} onClick={() => void copy()}>
      <span aria-live="polite">{copied ? t('action.copied') : (label ?? t('action.copy'))}</span>
    </button>
  );
}
