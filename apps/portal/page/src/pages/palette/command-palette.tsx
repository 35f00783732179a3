import { CommandGroup, CommandInput, CommandItem, CommandList, CommandRoot } from 'cmdk';
import { type ReactNode, useLayoutEffect, useRef, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { type CommandGroupEntry, type PaletteScope, useCommands } from './use-commands.ts';
import './palette.css';
import { keepPreviousData } from '@tanstack/react-query';
import { Building2, Package, Search } from 'lucide-react';
import { useLocation } from 'wouter';
import type { AccountPage } from '../../api/operator.ts';
import { useGet } from '../../api/queries.ts';
import type { ReviewState } from '../../api/review.ts';
import { liveOf, type Permission, useSession } from '../../api/session.ts';
import { formatCount } from '../../components/numbers.ts';
import { useDebounced } from '../../components/use-debounced.ts';
import { type Filters, NO_FILTERS, searchOf, writeFilters } from '../orders/list/filters.ts';
import { useOrderSearch } from '../orders/list/use-order-search.ts';
import { samePage } from '../pages.ts';

const MAX_ORDERS_PER_STATE = 4;
const MAX_ACCOUNTS = 8;
/** A shorter text finds too much to be of use. */
const MIN_LENGTH = 2;

interface Found {
  group: CommandGroupEntry;
  isLoading: boolean;
}

/** Orders of the account in every state, and the way to the list of each state with more. */
function useFoundOrders(accountId: number | undefined, text: string): Found {
  const { t } = useTranslation();
  const [, navigate] = useLocation();
  const q = useDebounced(text.trim());
  const isSearched = accountId !== undefined && q.length >= MIN_LENGTH;
  const search = isSearched ? searchOf(filtersOf('needs_review', q)) : null;
  const { data, isFetching } = useOrderSearch(accountId, search, MAX_ORDERS_PER_STATE);
  const states = (isSearched && data) || [];
  const found = states.flatMap(({ state, orders }) =>
    orders.map((order) => ({
      id: `order ${order.order_id}`,
      label: order.order_number ?? `#${order.order_id}`,
      hint: [order.customer.name, t(`nav.state.${state}`)].filter(Boolean).join(' · '),
      Icon: Package,
      run: () => navigate(`/accounts/${accountId}/orders/${order.order_id}${writeFilters(filtersOf(state))}`),
    })),
  );
  const lists = states
    .filter(({ orders, count }) => count > orders.length)
    .map(({ state, count, is_more }) => ({
      id: `orders ${state}`,
      label: t('palette.more', { formatted: formatCount(count, is_more), state: t(`nav.state.${state}`) }),
      Icon: Search,
      run: () => navigate(`/accounts/${accountId}/orders${writeFilters(filtersOf(state, q))}`),
    }));
  const commands = [...found, ...lists];
  return { group: { name: 'orders', commands }, isLoading: isSearched && isFetching };
}

const filtersOf = (state: ReviewState, q = ''): Filters => ({ ...NO_FILTERS, state, q, sort: '' });

/** Other accounts by name: all of them for operators, otherwise the user's own. */
function useFoundAccounts(scope: PaletteScope, accountId: number | undefined, text: string): Found {
  const { t } = useTranslation();
  const { role, accounts } = useSession();
  const [location, navigate] = useLocation();
  const q = useDebounced(text.trim());
  const isSearched = scope === 'accounts' || q.length >= MIN_LENGTH;
  const isAsked = isSearched && role === 'operator';
  const { data, isFetching } = useGet<AccountPage>(['palette', 'accounts', q], '/operator/accounts', {
    query: { q },
    enabled: isAsked,
    placeholderData: keepPreviousData,
  });
  const others = ((isAsked && data?.accounts) || []).map(({ account_id, name }) => ({
    ...{ account_id, name, hint: `#${account_id}` },
    mayOpen: () => true,
  }));
  const own = liveOf(accounts)
    .filter(({ name }) => isSearched && plainText(name).includes(plainText(text)))
    .map(({ account_id, name, role, permissions }) => ({
      ...{ account_id, name, hint: t(`role.${role}`) },
      mayOpen: (permission: Permission) => permissions.includes(permission),
    }));
  const commands = [...others, ...own]
    .filter(({ account_id }) => account_id !== accountId)
    .slice(0, MAX_ACCOUNTS)
    .map(({ account_id, name, hint, mayOpen }) => ({
      id: `account ${account_id}`,
      label: name,
      hint,
      Icon: Building2,
      run: () => navigate(`/accounts/${account_id}${samePage(location, mayOpen)}`),
    }));
  return { group: { name: 'accounts', commands }, isLoading: isAsked && isFetching };
}

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

/** Without case and diacritics, which Arabic readers often do not type. */
function plainText(text: string): string {
  return text.trim().normalize('NFD').replace(/\p{M}/gu, '').toLocaleLowerCase();
}
