import type { ReactNode } from 'react';
import './empty-state.css';

/** Says why there is nothing and what to do next. `action` is a link or a button. */
export function EmptyState({
  title,
  text,
  action,
  icon,
}: {
  title: string;
  text?: string | undefined;
  action?: ReactNode;
  /** Decorative. */
  icon?: ReactNode;
}): ReactNode {
  return (
    <div className="empty-state" role="status">
      {icon && (
        <span className="empty-icon" aria-hidden="true">
          {icon}
        </span>
      )}
      <p className="empty-title">{title}</p>
      {text && <p className="hint">{text}</p>}
      {action}
    </div>
  );
}
