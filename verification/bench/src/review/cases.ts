import type { ReviewFilter } from '@orders/portal/review/review-filter.ts';

/** A query of the list. */
export interface ReviewCase {
  name: string;
  filter: Partial<Omit<ReviewFilter, 'accountId'>>;
  /** The share of the list before the page. */
  deep?: number;
}

const HOUR_MS = 3_600_000;

/** @param orders the length of the list, with one order per second until now. */
export function casesFor(orders: number): ReviewCase[] {
  const ago = (share: number) => new Date(Date.now() - orders * share * 1000);
  const number = (share: number) => `SHOP-${String(Math.ceil(orders * share)).padStart(9, '0')}`;
  return [
    { name: 'open', filter: {} },
    { name: 'page in the middle', filter: {}, deep: 0.5 },
    { name: 'last page', filter: {}, deep: 0.999 },
    { name: 'channel, 20 %', filter: { channel: 'webhook' } },
    { name: 'emirate, 30 %', filter: { emirate: 'AE-DU' } },
    { name: 'no emirate, 2 %', filter: { emirate: 'none' } },
    { name: 'emirate, 0.05 %', filter: { emirate: 'AE-UQ' } },
    { name: 'with warnings, 3 %', filter: { severity: 'check' } },
    {
      name: 'webhook, no emirate, warnings: 0.01 %',
      filter: { channel: 'webhook', emirate: 'none', severity: 'check' },
    },
    { name: 'last hour', filter: { writtenAfter: new Date(Date.now() - HOUR_MS) } },
    { name: 'older than the newer half', filter: { writtenBefore: ago(0.5) } },
    { name: 'of the oldest hundredth, with warnings', filter: { writtenBefore: ago(0.99), severity: 'check' } },
    { name: 'search: common name', filter: { searchTerms: 'mohammed' } },
    { name: 'search: common name in Arabic', filter: { searchTerms: 'محمد' } },
    { name: 'search: name, 0.5 %', filter: { searchTerms: 'oluwaseun' } },
    { name: 'search: two names, 0.02 %', filter: { searchTerms: 'oluwaseun haddad' } },
    { name: 'search: name of three orders', filter: { searchTerms: 'zebul' } },
    { name: 'search: nobody’s name', filter: { searchTerms: 'nebuchadnezzar' } },
    { name: 'search: one letter', filter: { searchTerms: 'm' } },
    { name: 'search: order number', filter: { searchTerms: number(0.3) } },
    { name: 'search: beginning of a number', filter: { searchTerms: number(0.3).slice(0, -1) } },
    { name: 'search: four digits of a phone', filter: { searchTerms: '4567' } },
    { name: 'search: whole phone', filter: { searchTerms: '050 123 4567' } },
    { name: 'search: common name and no emirate', filter: { searchTerms: 'khan', emirate: 'none' } },
  ];
}
