import { type ReactNode, useState } from 'react';
import { useTranslation } from 'react-i18next';

/** Copies a string and confirms it. */
export function CopyButton({ text, label }: { text: string; label?: string }): ReactNode {
  const { t } = useTranslation();
  const [copied, setCopied] = useState(false);
  const copy = async () => {
    await navigator.clipboard.writeText(text);
    setCopied(true);
    setTimeout(() => setCopied(false), 2000);
  };
  return (
    <button type="button" className="button" onClick={() => void copy()}>
      <span aria-live="polite">{copied ? t('action.copied') : (label ?? t('action.copy'))}</span>
    </button>
  );
}
