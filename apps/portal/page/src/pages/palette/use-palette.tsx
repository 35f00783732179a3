import { type ReactNode, useRef, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { useNotices } from '../../components/notices.tsx';
import { useKeyDown } from '../../components/use-key-down.ts';
import type { PaletteScope } from './use-commands.ts';

/** The command palette, loaded when it is first opened: with Ctrl+K or Command+K on any keyboard layout, or by `open`. */
export function usePalette(accountId: number | undefined): { palette: ReactNode; open: (scope: PaletteScope) => void } {
  const { t } = useTranslation();
  const notices = useNotices();
  const [palette, setPalette] = useState<ReactNode>(null);
  /** What is typed while the palette loads; null otherwise. */
  const typed = useRef<string | null>(null);
  const open = (scope: PaletteScope) => {
    const close = () => setPalette(null);
    typed.current ??= '';
    import('./command-palette.tsx')
      .then(
        ({ CommandPalette }) => {
          const text = typed.current ?? '';
          setPalette(<CommandPalette scope={scope} accountId={accountId} typed={text} onClose={close} />);
        },
        () => notices.show({ kind: 'bad', text: t('problem.unreachable') }),
      )
      .finally(() => {
        typed.current = null;
      });
  };
  // Captured, because the menu keeps keys to itself.
  useKeyDown((event) => {
    const isKey = event.code === 'KeyK' && event.ctrlKey !== event.metaKey && !event.altKey && !event.shiftKey;
    if (typed.current !== null && event.key.length === 1 && !event.ctrlKey && !event.metaKey && !event.altKey) {
      typed.current += event.key;
      event.preventDefault();
      event.stopPropagation();
      return;
    }
    if (!isKey || document.querySelector('dialog[open]')) return;
    event.preventDefault();
    open('all');
  }, true);
  return { palette, open };
}
