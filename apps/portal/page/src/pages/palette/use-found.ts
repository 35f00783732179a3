import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { Building2, Package } from 'lucide-react';
import { useTranslation } from 'react-i18next';
import { useLocation } from 'wouter';
import { call } from '../../api/client.ts';
import type { AccountPage } from '../../api/operator.ts';
import { type ListedOrder, type ReviewState, STATES } from '../../api/review.ts';
import { useSession } from '../../api/session.ts';
import { useDebounced } from '../../components/use-debounced.ts';
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

/** For operators: other accounts by name. */
export function useFoundAccounts(scope: PaletteScope, accountId: number | undefined, text: string): Found {
  const { role } = useSession();
  const [location, navigate] = useLocation();
  const q = useDebounced(text.trim());
  const isSearched = role === 'operator' && (scope === 'accounts' || q.length >= MIN_LENGTH);
  const { data, isFetching } = useQuery({
    queryKey: ['palette', 'accounts', q],
    queryFn: ({ signal }) => call<AccountPage>('GET', '/operator/accounts', { query: { q }, signal }),
    enabled: isSearched,
    placeholderData: keepPreviousData,
  });
  /** The same page of the other account. */
  const [, page = 'review'] = /^\/accounts\/\d+\/([^/]+)/.exec(location) ?? [];
  const commands = ((isSearched && data?.accounts) || [])
    .filter(({ account_id }) => account_id !== accountId)
    .slice(0, MAX_ACCOUNTS)
    .map(({ account_id, name }) => ({
      id: `account ${account_id}`,
      label: name,
      hint: `#${account_id}`,
      Icon: Building2,
      run: () => navigate(`/accounts/${account_id}/${page}`),
    }));
  return { group: { name: 'accounts', commands }, isLoading: isSearched && isFetching };
}
