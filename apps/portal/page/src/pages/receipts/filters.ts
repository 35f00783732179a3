import { useCallback, useMemo } from 'react';
import { useLocation, useSearch } from 'wouter';

export const STATES = ['dead', 'failed', 'received', 'normalized', 'written', 'duplicate'] as const;

const NAMES = ['q', 'state', 'error_code', 'source_prefix', 'died_from', 'died_to'] as const;

/** An empty string means no filter. Times are local, as in `datetime-local` inputs. */
export type Filters = Record<(typeof NAMES)[number], string>;

/** The filters, stored in the URL; those of dead receipts apply only while `state` is `dead`. */
export function useFilters() {
  const search = useSearch();
  const [location, navigate] = useLocation();
  const filters = useMemo(() => {
    const params = new URLSearchParams(search);
    return Object.fromEntries(NAMES.map((name) => [name, params.get(name) ?? ''])) as Filters;
  }, [search]);
  const change = useCallback(
    (patch: Partial<Filters>) => {
      const params = new URLSearchParams();
      for (const [name, value] of Object.entries({ ...filters, ...patch })) if (value !== '') params.set(name, value);
      navigate(params.size > 0 ? `${location}?${params}` : location, { replace: true });
    },
    [filters, location, navigate],
  );
  const deadQuery = useMemo(() => (filters.state === 'dead' ? toDeadQuery(filters) : {}), [filters]);
  return { filters, change, deadQuery };
}

function toDeadQuery({ error_code, source_prefix, died_from, died_to }: Filters): Record<string, string> {
  const query = { error_code, source_prefix, died_from: toIso(died_from), died_to: toIso(died_to) };
  return Object.fromEntries(Object.entries(query).filter(([, value]) => value !== ''));
}

function toIso(local: string): string {
  const time = new Date(local);
  return Number.isNaN(time.getTime()) ? '' : time.toISOString();
}
