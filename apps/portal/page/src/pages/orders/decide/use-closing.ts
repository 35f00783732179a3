import type { RequestsOutcome } from '@orders/portal/review/cancellation-routes.ts';
import { useQueryClient } from '@tanstack/react-query';
import { useTranslation } from 'react-i18next';
import { call, isProblem } from '../../../api/client.ts';
import { isFinal, useProblemText } from '../../../components/loaded.tsx';
import {
  type DecisionMessage,
  doneMessage,
  newMessage,
  type RequestMessage,
  UNDO_MS,
  useDecisionMessages,
} from './use-decision-messages.ts';

/** Marks cancellation requests as done, and takes that back. Messages tell of it as of decisions. */
export function useClosing(accountId: number) {
  const { t } = useTranslation('review');
  const textOf = useProblemText();
  const queryClient = useQueryClient();
  const { messages, latest, put, drop, settle } = useDecisionMessages(accountId);

  async function send(message: RequestMessage): Promise<void> {
    const { id, ids, to, names } = message;
    put(message);
    try {
      const path = `/accounts/${accountId}/orders/cancellations/${to === 'requestDone' ? 'close' : 'reopen'}`;
      const options = { body: { order_ids: ids }, submission: id };
      const { changed, unchanged } = await call<RequestsOutcome>('POST', path, options);
      const isUndone = message.canUndo && latest().some((one) => one.id === id && !one.canUndo);
      if (changed.length === 0 || isUndone) drop(id);
      else put(doneMessage(message, changed));
      // An open request that was to be opened again is as it should be.
      if (to === 'requestDone' && unchanged.length > 0)
        put({
          ...newMessage({ to, ids: unchanged, names }),
          state: 'failed',
          problem: t('decided.why.requestDone', { count: unchanged.length }),
        });
      if (isUndone && changed.length > 0) await send(newMessage({ to: 'requestOpen', ids: changed, names }));
    } catch (error) {
      put({
        ...message,
        state: 'failed',
        problem: isProblem(error, 'order_not_found') ? t('notice.gone') : textOf(error),
        ...(!isFinal(error) && { again: {} }),
      });
    } finally {
      void queryClient.invalidateQueries({ queryKey: ['updates', accountId] });
      void queryClient.invalidateQueries({ queryKey: ['order', accountId] });
    }
  }

  const isClosing = (id: number, all: readonly DecisionMessage[] = messages) =>
    all.some(({ to, state, ids }) => to === 'requestDone' && state !== 'failed' && ids.includes(id));

  return {
    /** Whether a request is being marked as done, or just was. */
    isClosing: (id: number) => isClosing(id),
    /** @param names of the orders, for messages. */
    close(names: ReadonlyMap<number, string>): void {
      const ids = [...names.keys()].filter((id) => !isClosing(id, latest()));
      if (ids.length === 0) return;
      settle((id, { to }) => to === 'requestDone' && ids.includes(id));
      void send({ ...newMessage({ to: 'requestDone', ids, names }), canUndo: true });
    },
    undo(message: RequestMessage): void {
      const { id, ids, names, state } = message;
      // The second click of a double click.
      if (!latest().some((one) => one.id === id && one.canUndo)) return;
      // What is still being sent is undone once it is done.
      if (state === 'running') put({ ...message, canUndo: false });
      else {
        drop(id);
        void send(newMessage({ to: 'requestOpen', ids, names }));
      }
    },
    /** Sends a failed change again. */
    retry(message: RequestMessage): void {
      const { problem: _problem, again: _again, ...sent } = message;
      if (latest().some(({ id, state }) => id === sent.id && state === 'running')) return;
      void send({ ...sent, state: 'running', until: Date.now() + UNDO_MS });
    },
  };
}
