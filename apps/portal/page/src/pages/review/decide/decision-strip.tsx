import { X } from 'lucide-react';
import { type ReactNode, useEffect, useEffectEvent, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { leaveNotice } from '../../../components/notices.tsx';
import type { DecisionMessage } from './use-decision-messages.ts';
import './decision-strip.css';

interface DecisionStripProps {
  messages: readonly DecisionMessage[];
  onUndo: (message: DecisionMessage) => void;
  onRetry: (message: DecisionMessage) => void;
  onOpen: (message: DecisionMessage) => void;
  onClose: (message: DecisionMessage) => void;
  onExpired: () => void;
}

/** Says what became of the latest decisions, beside the order that is shown now, never over it. Failures stay until they are dealt with. */
export function DecisionStrip({
  messages,
  onUndo,
  onRetry,
  onOpen,
  onClose,
  onExpired,
}: DecisionStripProps): ReactNode {
  const { t } = useTranslation('review');
  const [isPaused, setPaused] = useState(false);
  const expire = useEffectEvent(onExpired);
  const failed = messages.filter(({ state }) => state === 'failed');
  const latest = messages.filter(({ state }) => state !== 'failed');
  const undoable = latest.filter(({ state, canUndo }) => state === 'done' && canUndo);
  const undo = undoable.at(-1);
  const ends = Math.min(...latest.filter(({ state }) => state === 'done').map(({ until }) => until));
  useEffect(() => {
    if (isPaused || !Number.isFinite(ends)) return;
    const timer = setTimeout(expire, Math.max(0, ends - Date.now()));
    return () => clearTimeout(timer);
  }, [ends, isPaused]);
  /** The button with the focus is about to disappear. */
  const act = (run: (message: DecisionMessage) => void, message: DecisionMessage) => {
    setPaused(false);
    leaveNotice();
    run(message);
  };
  return (
    <section
      className="decision-strip"
      aria-label={t('decided.label')}
      onPointerEnter={() => setPaused(true)}
      onPointerLeave={() => setPaused(false)}
      onFocus={() => setPaused(true)}
      onBlur={() => setPaused(false)}
    >
      <div role="status">
        {latest.length > 0 && (
          <div className="decision" data-notice>
            <span className="decision-text">
              {summaryOf(latest)
                .map(({ key, ...values }) => t(key, values))
                .join(' · ')}
            </span>
            {undo && (
              <button type="button" className="button button-quiet" onClick={() => act(onUndo, undo)}>
                {t(undoable.length > 1 ? 'decided.undoLast' : 'common:action.undo')}
              </button>
            )}
          </div>
        )}
      </div>
      <div role="alert">
        {failed.map((message) => (
          <div key={message.id} className="decision is-failed" data-notice>
            <span className="decision-text">
              {t(`decided.failed.${message.to}`, { count: message.ids.length, name: nameOf(message) })}{' '}
              {message.problem}
            </span>
            {message.again && (
              <button type="button" className="button button-quiet" onClick={() => act(onRetry, message)}>
                {t('common:action.retry')}
              </button>
            )}
            <button type="button" className="button button-quiet" onClick={() => act(onOpen, message)}>
              {t('decided.open')}
            </button>
            <button
              type="button"
              className="icon-button"
              aria-label={t('common:action.close')}
              onClick={() => act(onClose, message)}
            >
              <X aria-hidden="true" size={16} />
            </button>
          </div>
        ))}
      </div>
    </section>
  );
}

/** One text for each kind of decision, with the name of a single order or the number of orders. */
function summaryOf(latest: readonly DecisionMessage[]): { key: string; count: number; name: string }[] {
  const byKind = Map.groupBy(latest, ({ state, to }) =>
    state === 'running' ? `decided.running.${to}` : `notice.${to}`,
  );
  return [...byKind].map(([key, all]) => ({
    key,
    count: new Set(all.flatMap(({ ids }) => ids)).size,
    name: nameOf(all[0]),
  }));
}

function nameOf(message: DecisionMessage | undefined): string {
  return message?.names.get(message.ids[0] ?? 0) ?? '';
}
