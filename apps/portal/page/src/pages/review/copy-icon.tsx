import { Check, ClipboardCopy, Copy } from 'lucide-react';
import { type ReactNode, useState } from 'react';
import { useTranslation } from 'react-i18next';

/** Copies a text; a small button beside it. */
export function CopyIcon(props: {
  text: string;
  label: string;
  /** The text is the whole order. */
  isWhole?: boolean;
}): ReactNode {
  const { text, label, isWhole = false } = props;
  const { t } = useTranslation('review');
  const [isCopied, setCopied] = useState(false);
  const copy = async () => {
    await navigator.clipboard.writeText(text);
    setCopied(true);
    setTimeout(() => setCopied(false), 2000);
  };
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
