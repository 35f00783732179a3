import { type ReactNode, useEffect } from 'react';
import './page-header.css';

/** From the most to the least specific: what is open on the page, the page, the account, the portal. */
const parts: Record<'open' | 'page' | 'rest', string> = { open: '', page: '', rest: '' };

function change(changed: Partial<typeof parts>): void {
  Object.assign(parts, changed);
  document.title = [parts.open || parts.page, parts.rest].filter(Boolean).join(' · ');
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

/** The top of a page: its title, what it is for in one line, and its actions at the end. */
export function PageHeader({
  title,
  about,
  children,
}: {
  title: string;
  about?: string;
  children?: ReactNode;
}): ReactNode {
  return (
    <header className="page-header">
      <div>
        <h1>{title}</h1>
        {about && <p>{about}</p>}
      </div>
      {children && <div className="row">{children}</div>}
    </header>
  );
}
