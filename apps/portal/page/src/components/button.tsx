import { Check, ClipboardCopy, Copy, type LucideIcon } from 'lucide-react';
import { type ComponentProps, type ReactNode, useState } from 'react';
import { useTranslation } from 'react-i18next';

/** `main` is the primary action, `bad` one that destroys or rejects, `quiet` has no border. */
export type ButtonKind = 'main' | 'bad' | 'quiet';

type NativeProps = Omit<ComponentProps<'button'>, 'ref'>;
export type ButtonProps = NativeProps & { kind?: ButtonKind | undefined; Icon?: LucideIcon };

const classes = (...names: (string | false | undefined)[]) => names.filter(Boolean).join(' ');

/** A button with a text, and with an icon before it. It submits a form only with `type="submit"`. */
export function Button(props: ButtonProps): ReactNode {
  const { kind, Icon, className, children, ...button } = props;
  return (
    <button type="button" {...button} className={classes('button', kind && `button-${kind}`, className)}>
      {Icon && <Icon aria-hidden="true" size={16} />}
      {children}
    </button>
  );
}

/** A button that shows an icon only; `label` is its name, also on hover. */
export function IconButton(props: NativeProps & { label: string; Icon: LucideIcon; size?: number }): ReactNode {
  const { label, Icon, size = 18, className, ...button } = props;
  return (
    <button type="button" aria-label={label} title={label} {...button} className={classes('icon-button', className)}>
      <Icon aria-hidden="true" size={size} />
    </button>
  );
}

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
    <Button data-autofocus={isFirst ? true : undefined} onClick={() => void copy()}>
      <span aria-live="polite">{isCopied ? t('action.copied') : (label ?? t('action.copy'))}</span>
    </Button>
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
      <IconButton className="value-button" label={label} Icon={Icon} size={15} onClick={() => void copy()} />
      <span className="visually-hidden" role="status">
        {isCopied && t('common:action.copied')}
      </span>
    </>
  );
}
