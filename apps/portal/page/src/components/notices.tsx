import { X } from 'lucide-react';
import { createContext, type ReactNode, useCallback, useContext, useMemo, useRef, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { Button, IconButton } from './button.tsx';
import { useEnd, usePause } from './message-end.ts';
import { useKeyDown } from './use-key-down.ts';

/** A short message about what just happened, with at most one action. */
export interface Notice {
  text: string;
  kind?: 'good' | 'bad';
  action?: { label: string; run: () => void };
  /** In milliseconds; 6,000 by default. It stays longer while `usePause` holds it. */
  durationMs?: number;
}

interface NoticeBoard {
  show(notice: Notice): number;
  hide(id: number): void;
}

const DURATION_MS = 6000;
const MAX_SHOWN = 3;

/** What had the focus before F8 moved it to a notice. */
let focusedBefore: Element | null = null;

/** Gives the focus back, as the button of a notice that has it is about to disappear. */
export function leaveNotice(): void {
  if (focusedBefore instanceof HTMLElement) focusedBefore.focus();
  focusedBefore = null;
}

const NoticeContext = createContext<NoticeBoard | null>(null);

export function useNotices(): NoticeBoard {
  const board = useContext(NoticeContext);
  if (!board) throw new Error('used outside of Notices');
  return board;
}

/** Provides and shows notices. F8 moves the focus to the newest. */
export function Notices({ children }: { children: ReactNode }): ReactNode {
  const { t } = useTranslation();
  const [notices, setNotices] = useState<(Notice & { id: number })[]>([]);
  const { isPaused, resume, handlers } = usePause();
  const nextId = useRef(1);
  const hide = useCallback((id: number) => setNotices((all) => all.filter((notice) => notice.id !== id)), []);
  const show = useCallback((notice: Notice) => {
    const id = nextId.current++;
    setNotices((all) => [...all.slice(1 - MAX_SHOWN), { ...notice, id }]);
    return id;
  }, []);
  const board = useMemo(() => ({ show, hide }), [show, hide]);
  useKeyDown((event) => {
    // A page can have notices of its own.
    const newest = [...document.querySelectorAll('[data-notice]')].at(-1)?.querySelector('button');
    if (event.key !== 'F8' || !newest) return;
    event.preventDefault();
    if (!document.activeElement?.closest('[data-notice]')) focusedBefore = document.activeElement;
    newest.focus();
  });
  /** The button with the focus is about to disappear. */
  const leave = () => {
    resume();
    leaveNotice();
  };
  const shown = (kind: 'good' | 'bad') =>
    notices
      .filter((notice) => (notice.kind ?? 'good') === kind)
      .map((notice) => <NoticeBox key={notice.id} notice={notice} isPaused={isPaused} onHide={hide} onLeave={leave} />);
  return (
    <NoticeContext value={board}>
      {children}
      <section className="notices" aria-label={t('notices')} {...handlers}>
        <div role="status">{shown('good')}</div>
        <div role="alert">{shown('bad')}</div>
      </section>
    </NoticeContext>
  );
}

function NoticeBox(props: {
  notice: Notice & { id: number };
  isPaused: boolean;
  onHide: (id: number) => void;
  onLeave: () => void;
}): ReactNode {
  const { id, text, kind, action, durationMs = DURATION_MS } = props.notice;
  const { t } = useTranslation();
  useEnd(props.isPaused ? null : durationMs, () => props.onHide(id));
  const close = () => {
    props.onHide(id);
    props.onLeave();
  };
  const act = () => {
    close();
    action?.run();
  };
  return (
    <div className={`notice notice-${kind ?? 'good'}`} data-notice>
      <span>{text}</span>
      {action && (
        <Button kind="quiet" onClick={act}>
          {action.label}
        </Button>
      )}
      <IconButton label={t('action.close')} Icon={X} size={16} onClick={close} />
    </div>
  );
}
