import { Ellipsis, type LucideIcon } from 'lucide-react';
import type { ReactNode } from 'react';
import { Popover } from './popover.tsx';

export interface MenuAction {
  name: string;
  Icon?: LucideIcon | undefined;
  /** Destroys something, or takes it away. */
  isDestructive?: boolean;
  isCurrent?: boolean;
  run: () => void;
}

/** What is seldom done, behind three dots. `label` names the button and its menu. */
export function ActionMenu({ label, actions }: { label: string; actions: readonly MenuAction[] }): ReactNode {
  return (
    <Popover
      label={<Ellipsis aria-hidden="true" size={18} />}
      title={label}
      name={label}
      className="icon-button"
      width={240}
    >
      {(close) => <MenuItems actions={actions} close={close} />}
    </Popover>
  );
}

/** The actions of a menu, which close it. */
export function MenuItems({ actions, close }: { actions: readonly MenuAction[]; close: () => void }): ReactNode {
  return (
    <ul className="plain menu-list">
      {actions.map(({ name, Icon, isDestructive, isCurrent, run }) => (
        <li key={name}>
          <button
            type="button"
            className={isDestructive ? 'menu-item is-bad' : 'menu-item'}
            aria-current={isCurrent ? 'true' : undefined}
            onClick={() => {
              close();
              run();
            }}
          >
            {name}
            {Icon && <Icon aria-hidden="true" size={16} />}
          </button>
        </li>
      ))}
    </ul>
  );
}
