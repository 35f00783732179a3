import { X } from 'lucide-react';
import type { ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import { Button, IconButton } from '../../../components/button.tsx';
import { useEnd, usePause } from '../../../components/message-end.ts';
import { leaveNotice } from '../../../components/notices.tsx';
import type { DecisionMessage } from './use-decision-messages.ts';
import './decision-strip.css';

/** Says what became of the latest decisions, beside the order that is shown now, never over it. Failures stay until they are dealt with. */
export function DecisionStrip(props: {
  messages: readonly DecisionMessage[];
  onUndo: (message: DecisionMessage) => void;
  onRetry: (message: DecisionMessage) => void;
  onOpen: (message: DecisionMessage) => void;
  onClose: (message: DecisionMessage) => void;
  onExpired: () => void;
}): ReactNode {
  const { messages, onUndo, onRetry, onOpen, onClose, onExpired } = props;
  const { t } = useTranslation('review');
  const { isPaused, resume, handlers } = usePause();
  const failed = messages.filter(({ state }) => state === 'failed');
  const latest = messages.filter(({ state }) => state !== 'failed');
  const undoable = latest.filter(({ state, canUndo }) => state === 'done' && canUndo);
  const undo = undoable.at(-1);
  const ends = Math.min(...latest.filter(({ state }) => state === 'done').map(({ until }) => until));
  useEnd(isPaused || !Number.isFinite(ends) ? null : ends - Date.now(), onExpired);
  /** The button with the focus is about to disappear. */
  const act = (run: (message: DecisionMessage) => void, message: DecisionMessage) => {
    resume();
    leaveNotice();
    run(message);
  };
  return (
    <section className="decision-strip" aria-label={t('decided.label')} {...handlers}>
      <div role="status">
        {latest.length > 0 && (
          <div className="decision" data-notice>
            <span className="decision-text">
              {summaryOf(latest)
                .map(({ key, ...values }) => t(key, values))
                .join(' · ')}
            </span>
            {undo && (
              <Button kind="quiet" onClick={() => act(onUndo, undo)}>
                {t(undoable.length > 1 ? 'decided.undoLast' : 'common:action.undo')}
              </Button>
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
              <Button kind="quiet" onClick={() => act(onRetry, message)}>
                {t('common:action.retry')}
              </Button>
            )}
            <Button kind="quiet" onClick={() => act(onOpen, message)}>
              {t('decided.open')}
            </Button>
            <IconButton label={t('common:action.close')} Icon={X} size={16} onClick={() => act(onClose, message)} />
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
