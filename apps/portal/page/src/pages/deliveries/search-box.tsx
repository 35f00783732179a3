import { type ReactNode, useEffect, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { useLocation, useSearch } from 'wouter';
import { Button } from '../../components/button.tsx';
import { Form } from '../../components/form-dialog.tsx';
import { SearchField } from '../../components/search-field.tsx';
import { TabLinks } from '../../components/tab-links.tsx';

const STATES = ['dead', 'failed', 'received', 'normalized', 'written', 'duplicate'] as const;

const NAMES = ['q', 'state', 'error_code', 'source_prefix', 'died_from', 'died_to'] as const;

/** An empty string means no filter. Times are local, as in `datetime-local` inputs. */
export type Filters = Record<(typeof NAMES)[number], string>;

/** The filters, stored in the URL; those of dead receipts apply only while `state` is `dead`. */
export function useFilters() {
  const params = new URLSearchParams(useSearch());
  const [location, navigate] = useLocation();
  const filters = Object.fromEntries(NAMES.map((name) => [name, params.get(name) ?? ''])) as Filters;
  const change = (patch: Partial<Filters>) => {
    const changed = new URLSearchParams(withoutEmpty({ ...filters, ...patch }));
    navigate(changed.size > 0 ? `${location}?${changed}` : location, { replace: true });
  };
  return { filters, change, deadQuery: filters.state === 'dead' ? toDeadQuery(filters) : {} };
}

function withoutEmpty(values: Record<string, string>): Record<string, string> {
  return Object.fromEntries(Object.entries(values).filter(([, value]) => value !== ''));
}

function toDeadQuery({ error_code, source_prefix, died_from, died_to }: Filters): Record<string, string> {
  return withoutEmpty({ error_code, source_prefix, died_from: toIso(died_from), died_to: toIso(died_to) });
}

function toIso(local: string): string {
  const time = new Date(local);
  return Number.isNaN(time.getTime()) ? '' : time.toISOString();
}

/** Searches receipts by one of their three ids, or shows those of one state. */
export function SearchBox(props: { filters: Filters; change: (patch: Partial<Filters>) => void }): ReactNode {
  const { filters, change } = props;
  const { t } = useTranslation('receipts');
  const [q, setQ] = useState(filters.q);
  const [location] = useLocation();
  useEffect(() => setQ(filters.q), [filters.q]);
  return (
    <>
      <search>
        <Form className="row" onSubmit={() => change({ q })}>
          <SearchField
            label={t('search.label')}
            hint={t('search.label')}
            maxLength={255}
            value={q}
            onChange={(typed) => {
              setQ(typed);
              if (typed === '') change({ q: '' });
            }}
          />
          <Button type="submit">{t('search.submit')}</Button>
        </Form>
      </search>
      <TabLinks
        label={t('state.label')}
        tabs={['', ...STATES].map((state) => ({
          name: t(`state.${state || 'any'}`),
          href: state ? `${location}?state=${state}` : location,
          isCurrent: filters.q === '' && filters.state === state,
        }))}
      />
    </>
  );
}
