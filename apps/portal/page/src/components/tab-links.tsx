import { ArrowLeft } from 'lucide-react';
import { type ReactNode, useEffect, useRef } from 'react';
import { Link } from 'wouter';

export interface Tab {
  name: string;
  href: string;
  isCurrent: boolean;
  /** A number behind the name. */
  count?: string | undefined;
}

/** The parts of a page, each with its own address. On a phone they scroll sideways. */
export function TabLinks({ label, tabs }: { label: string; tabs: Tab[] }): ReactNode {
  const current = useRef<HTMLAnchorElement>(null);
  const currentHref = tabs.find(({ isCurrent }) => isCurrent)?.href;
  // biome-ignore lint/correctness/useExhaustiveDependencies: the current tab must stay visible when it changes.
  useEffect(() => {
    current.current?.scrollIntoView({ block: 'nearest', inline: 'nearest' });
  }, [currentHref]);
  return (
    <nav className="tab-links" aria-label={label}>
      {tabs.map(({ name, href, isCurrent, count }) => (
        <Link
          key={href}
          href={href}
          ref={isCurrent ? current : undefined}
          aria-current={isCurrent ? 'page' : undefined}
        >
          <span>{name}</span>
          {count && <span className="badge">{count}</span>}
        </Link>
      ))}
    </nav>
  );
}

/** The way back to a list, above what was opened in it. */
export function WayBack({ href, children }: { href: string; children: ReactNode }): ReactNode {
  return (
    <Link href={href} className="row way-back">
      <ArrowLeft aria-hidden="true" size={16} className="flips" />
      {children}
    </Link>
  );
}
