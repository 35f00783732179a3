import { Check, ClipboardCopy, Copy } from 'lucide-react';
import type { ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import { useCopy } from '../../components/use-copy.ts';

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
