import { CommandGroup, CommandInput, CommandItem, CommandList, CommandRoot } from 'cmdk';
import { type ReactNode, useLayoutEffect, useRef, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { plainText } from './plain-text.ts';
import { type CommandGroupEntry, type PaletteScope, useCommands } from './use-commands.ts';
import { useFoundAccounts, useFoundOrders } from './use-found.ts';
import './palette.css';

/** Finds pages, actions, orders and accounts. */
export function CommandPalette(props: {
  scope: PaletteScope;
  accountId: number | undefined;
  /** Typed before the palette was loaded. */
  typed: string;
  onClose: () => void;
}): ReactNode {
  const { scope, accountId, onClose } = props;
  const { t } = useTranslation();
  const dialog = useRef<HTMLDialogElement>(null);
  const [text, setText] = useState(props.typed);
  const [chosen, setChosen] = useState('');
  const commands = useCommands(accountId);
  const orders = useFoundOrders(scope === 'all' ? accountId : undefined, text);
  const accounts = useFoundAccounts(scope, accountId, text);
  useLayoutEffect(() => {
    const element = dialog.current;
    element?.showModal();
    element?.querySelector('input')?.focus();
    return () => element?.close();
  }, []);
  const groups = [orders.group, accounts.group, ...(scope === 'all' ? matching(commands, text) : [])].filter(
    ({ commands }) => commands.length > 0,
  );
  const ids = groups.flatMap(({ commands }) => commands.map(({ id }) => id));
  // What is found later must be chosen without another key press.
  const current = ids.includes(chosen) ? chosen : (ids[0] ?? '');
  const isLoading = orders.isLoading || accounts.isLoading;
  const label = t(scope === 'all' ? 'palette.label' : 'account.switch');
  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: a click outside closes it; so does Escape.
    <dialog
      ref={dialog}
      className="palette"
      aria-label={label}
      // The event comes later: this dialog may be gone, and another one open.
      onClose={({ currentTarget: { isConnected, open } }) => isConnected && !open && onClose()}
      onClick={(event) => event.target === event.currentTarget && onClose()}
    >
      <CommandRoot
        label={label}
        value={current}
        onValueChange={setChosen}
        shouldFilter={false}
        vimBindings={false}
        loop
      >
        <CommandInput
          dir="auto"
          value={text}
          onValueChange={setText}
          placeholder={t(scope === 'all' ? 'palette.placeholder' : 'palette.accountPlaceholder')}
        />
        <CommandList label={label}>
          {groups.map(({ name, commands }) => (
            <CommandGroup key={name} heading={t(`palette.${name}`)}>
              {commands.map(({ id, label, hint, Icon, run }) => (
                <CommandItem
                  key={id}
                  value={id}
                  onSelect={() => {
                    onClose();
                    run();
                  }}
                >
                  {Icon && <Icon aria-hidden="true" size={16} />}
                  <span dir="auto">{label}</span>
                  {hint && (
                    <span className="hint" dir="auto">
                      {hint}
                    </span>
                  )}
                </CommandItem>
              ))}
            </CommandGroup>
          ))}
        </CommandList>
        <p className="palette-note hint" role="status">
          {groups.length === 0 && t(isLoading ? 'state.loading' : 'palette.nothing')}
          {groups.length > 0 && <span className="visually-hidden">{t('palette.found', { count: ids.length })}</span>}
        </p>
      </CommandRoot>
    </dialog>
  );
}

/** The commands whose label or hint contains every typed word. */
function matching(groups: readonly CommandGroupEntry[], text: string): CommandGroupEntry[] {
  const words = plainText(text).split(/\s+/);
  return groups.map((group) => ({
    ...group,
    commands: group.commands.filter(({ label, hint }) =>
      words.every((word) => plainText(`${label} ${hint}`).includes(word)),
    ),
  }));
}
