import { createContext, type ReactNode, useCallback, useContext, useMemo, useRef, useState } from 'react';
import { useTranslation } from 'react-i18next';
import './notices.css';

/** A short message about what just happened, with at most one action. */
export interface Notice {
  text: string;
  kind?: 'good' | 'bad';
  action?: { label: string; run: () => void };
  /** In milliseconds; 6,000 by default. */
  durationMs?: number;
}

interface NoticeBoard {
  show(notice: Notice): number;
  hide(id: number): void;
}

const NoticeContext = createContext<NoticeBoard | null>(null);

export function useNotices(): NoticeBoard {
  const board = useContext(NoticeContext);
  if (!board) throw new Error('used outside of Notices');
  return board;
}

export function Notices({ children }: { children: ReactNode }): ReactNode {
  const { t } = useTranslation();
  const [notices, setNotices] = useState<(Notice & { id: number })[]>([]);
  const nextId = useRef(1);
  const hide = useCallback((id: number) => setNotices((all) => all.filter((notice) => notice.id !== id)), []);
  const show = useCallback(
    (notice: Notice) => {
      const id = nextId.current++;
      setNotices((all) => [...all.slice(-2), { ...notice, id }]);
      setTimeout(() => hide(id), notice.durationMs ?? 6000);
      return id;
    },
    [hide],
  );
  const board = useMemo(() => ({ show, hide }), [show, hide]);
  return (
    <NoticeContext value={board}>
      {children}
      <div className="notices" role="status">
        {notices.map(({ id, text, kind, action }) => (
          <div key={id} className={`notice notice-${kind ?? 'good'}`}>
            <span>{text}</span>
            {action && (
              <button
                type="button"
                className="button button-quiet"
                onClick={() => {
                  hide(id);
                  action.run();
                }}
              >
                {action.label}
              </button>
            )}
            <button type="button" className="icon-button" aria-label={t('action.close')} onClick={() => hide(id)}>
              ×
            </button>
          </div>
        ))}
      </div>
    </NoticeContext>
  );
}
