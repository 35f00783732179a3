import { CircleQuestionMark } from 'lucide-react';
import { createContext, type ReactNode, useContext, useEffect } from 'react';
import { useTranslation } from 'react-i18next';
import { formatCount } from './numbers.ts';
import { type Tab, TabLinks } from './tab-links.tsx';

/** A count, then from the most to the least specific: what is open on the page, the page, the account, the portal. */
const parts: Record<'count' | 'open' | 'page' | 'rest', string> = { count: '', open: '', page: '', rest: '' };

function change(changed: Partial<typeof parts>): void {
  Object.assign(parts, changed);
  document.title = parts.count + [parts.open || parts.page, parts.rest].filter(Boolean).join(' · ');
}

/** While rendered, the browser's title begins with the count, if there is any. */
export function useTitleCount(count: number): void {
  useEffect(() => {
    change({ count: count > 0 ? `(${formatCount(count)}) ` : '' });
    return () => change({ count: '' });
  }, [count]);
}

/** While rendered, the browser's title names `open`, such as an order's number, in place of the page. */
export function useTitle(open: string | null | undefined): void {
  useEffect(() => {
    change({ open: open ?? '' });
    return () => change({ open: '' });
  }, [open]);
}

/** Names the page, the account if it has one, and the portal in the browser's title. Only for the shell. */
export function usePageTitle(page: string, ...rest: (string | undefined)[]): void {
  const joined = rest.filter(Boolean).join(' · ');
  useEffect(() => change({ page, rest: joined }), [page, joined]);
}

/** The pages of the section that is open, as tabs; none if it has only one. */
export const SectionTabs = createContext<Tab[]>([]);

/** The top of a page: its title, what it is for in one line, its actions at the end, and tabs to the pages beside it or to its parts. */
export function PageHeader(props: { title: string; about?: string; tabs?: Tab[]; children?: ReactNode }): ReactNode {
  const beside = useContext(SectionTabs);
  const { title, about, tabs = beside, children } = props;
  return (
    <>
      <header className="spread page-header">
        <div>
          <h1>{title}</h1>
          {about && <p>{about}</p>}
        </div>
        {children && <div className="row">{children}</div>}
      </header>
      {tabs.length > 0 && <TabLinks label={title} tabs={tabs} />}
    </>
  );
}

/** Links to a page of docs/portal in the user's language. A new tab, so that nothing typed on this page is lost. */
export function HelpLink(props: {
  /** File name without `.md`; the index without it. */
  page?: string;
  /** An `<a id>` of the page, the same in both languages. */
  anchor?: string;
  /** Shows no text, for a toolbar. */
  isIcon?: boolean;
}): ReactNode {
  const { page, anchor, isIcon = false } = props;
  const { t, i18n } = useTranslation();
  const path = page ? `/help/${i18n.language}/${page}` : `/help/${i18n.language}`;
  return (
    <a
      href={anchor ? `${path}#${anchor}` : path}
      target="_blank"
      rel="noopener"
      className={isIcon ? 'icon-button' : 'help-link'}
      title={isIcon ? t('help.link') : undefined}
    >
      <CircleQuestionMark aria-hidden="true" size={isIcon ? 20 : 16} />
      <span className={isIcon ? 'visually-hidden' : undefined}>{t('help.link')}</span>
      <span className="visually-hidden">{t('help.newTab')}</span>
    </a>
  );
}
