import type { ReactNode } from 'react';
import './page-header.css';

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
