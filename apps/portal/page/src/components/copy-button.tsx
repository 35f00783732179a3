import { Check, ClipboardCopy, Copy } from 'lucide-react';
import { type ReactNode, useState } from 'react';
import { useTranslation } from 'react-i18next';

const SHOWN_MS = 2000;

/** Copies a string; `isCopied` for two seconds after it. */
export function useCopy(text: string, onCopied?: () => void): { isCopied: boolean; copy: () => Promise<void> } {
  const [isCopied, setCopied] = useState(false);
  const copy = async () => {
    await navigator.clipboard.writeText(text);
    setCopied(true);
    onCopied?.();
    setTimeout(() => setCopied(false), SHOWN_MS);
  };
  return { isCopied, copy };
}

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

/** A small button that copies the text beside it. */
export function CopyIcon(props: {
  text: string;
  label: string;
  /** The text is the whole order. */
  isWhole?: boolean;
}): ReactNode {
  const { text, label, isWhole = false } = props;
  const { t } = useTranslation('review');
  const { isCopied, copy } = useCopy(text);
  const Icon = isCopied ? Check : isWhole ? ClipboardCopy : Copy;
  return (
    <>
      <button
        type="button"
        className="icon-button value-button"
        aria-label={label}
        title={label}
        onClick={() => void copy()}
      >
        <Icon aria-hidden="true" size={15} />
      </button>
      <span className="visually-hidden" role="status">
        {isCopied && t('common:action.copied')}
      </span>
    </>
  );
}
