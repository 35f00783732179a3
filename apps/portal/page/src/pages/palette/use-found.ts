import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { Building2, Package } from 'lucide-react';
import { useTranslation } from 'react-i18next';
import { useLocation } from 'wouter';
import { call } from '../../api/client.ts';
import type { AccountPage } from '../../api/operator.ts';
import { type ListedOrder, type ReviewState, STATES } from '../../api/review.ts';
import { type Permission, useSession } from '../../api/session.ts';
import { useDebounced } from '../../components/use-debounced.ts';
import { permittedPages } from '../pages.ts';
import { plainText } from './plain-text.ts';
import type { CommandGroupEntry, PaletteScope } from './use-commands.ts';

const MAX_ORDERS_PER_STATE = 4;
const MAX_ACCOUNTS = 8;
/** A shorter text finds too much to be of use. */
const MIN_LENGTH = 2;

interface Found {
  group: CommandGroupEntry;
  isLoading: boolean;
}

/** Orders of the account, in every state, by number, customer or phone. */
export function useFoundOrders(accountId: number | undefined, text: string): Found {
  const { t } = useTranslation();
  const [, navigate] = useLocation();
  const q = useDebounced(text.trim());
  const isSearched = accountId !== undefined && q.length >= MIN_LENGTH;
  const { data, isFetching } = useQuery({
    queryKey: ['palette', 'orders', accountId, q],
    queryFn: async ({ signal }) => {
      const search = (state: ReviewState) =>
        call<{ orders: ListedOrder[] }>('GET', `/accounts/${accountId}/orders`, {
          query: { q, state, limit: MAX_ORDERS_PER_STATE },
          signal,
        });
      return (await Promise.all(STATES.map(search))).flatMap(({ orders }) => orders);
    },
    enabled: isSearched,
    placeholderData: keepPreviousData,
  });
  const commands = ((isSearched && data) || []).map((order) => ({
    id: `order ${order.order_id}`,
    label: order.order_number ?? `#${order.order_id}`,
    hint: [order.customer.name, t(`nav.state.${order.review_state}`)].filter(Boolean).join(' · '),
    Icon: Package,
    run: () => navigate(`/accounts/${accountId}/review/${order.order_id}${stateQuery(order.review_state)}`),
  }));
  return { group: { name: 'orders', commands }, isLoading: isSearched && isFetching };
}

function stateQuery(state: ReviewState): string {
  return state === 'needs_review' ? '' : `?state=${state}`;
}

/** Other accounts by name: all of them for operators, otherwise the user's own. */
export function useFoundAccounts(scope: PaletteScope, accountId: number | undefined, text: string): Found {
  const { t } = useTranslation();
  const { role, accounts } = useSession();
  const [location, navigate] = useLocation();
  const q = useDebounced(text.trim());
  const isSearched = scope === 'accounts' || q.length >= MIN_LENGTH;
  const isAsked = isSearched && role === 'operator';
  const { data, isFetching } = useQuery({
    queryKey: ['palette', 'accounts', q],
    queryFn: ({ signal }) => call<AccountPage>('GET', '/operator/accounts', { query: { q }, signal }),
    enabled: isAsked,
    placeholderData: keepPreviousData,
  });
  const others = ((isAsked && data?.accounts) || []).map(({ account_id, name }) => ({
    ...{ account_id, name, hint: `#${account_id}` },
    mayOpen: () => true,
  }));
  const own = accounts
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

/** The path of the open page, in an account where the user may open it; otherwise of the first page. */
function samePage(location: string, mayOpen: (permission: Permission) => boolean): string {
  const [, path] = /^\/accounts\/\d+(\/[^/]+)/.exec(location) ?? [];
  return permittedPages(mayOpen).find((page) => page.path === path)?.path ?? '/review';
}
