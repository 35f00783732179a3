import { useQuery, useQueryClient } from '@tanstack/react-query';
import type { ReviewState } from '../../../api/review.ts';

/** How long a message offers to undo, in milliseconds; the service allows a little longer. */
export const UNDO_MS = 7000;
/** How long a message says at least that a decision was made. */
const DONE_MS = 4000;

/** What the reviewer is told about a decision, from when it is sent. */
interface Message<To> {
  /** Also names the submission: a retry keeps it. */
  id: string;
  state: 'running' | 'done' | 'failed';
  ids: number[];
  /** The state that was decided; `undone` takes a decision back. */
  to: To;
  /** What its orders are called in the message. */
  names: ReadonlyMap<number, string>;
  /** When it ends, unless it failed, in the time of `Date.now()`. */
  until: number;
  /** The decision can be taken back until then. */
  canUndo: boolean;
  /** Why it failed. */
  problem?: string;
  /** What sends a failed decision again: the reason of a rejection, or the state that is taken back. */
  again?: { reason?: string | undefined; before?: ReviewState };
}

/** About the review of orders. */
export type ReviewMessage = Message<ReviewState | 'undone'>;
/** About cancellation requests, which are marked as done or opened again. */
export type RequestMessage = Message<'requestDone' | 'requestOpen'>;
export type DecisionMessage = ReviewMessage | RequestMessage;

/** A message about a decision that is being sent. */
export function newMessage<To>(about: Pick<Message<To>, 'ids' | 'to' | 'names'>): Message<To> {
  return { id: crypto.randomUUID(), state: 'running', ...about, until: Date.now() + UNDO_MS, canUndo: false };
}

/** The message once the service has decided about these orders. */
export function doneMessage<To>(message: Message<To>, ids: number[]): Message<To> {
  return { ...message, state: 'done', ids, until: Math.max(message.until, Date.now() + DONE_MS) };
}

export function isAboutRequests(message: DecisionMessage): message is RequestMessage {
  return message.to === 'requestDone' || message.to === 'requestOpen';
}

/** The messages about decisions in an account. They are kept while other pages are shown, so that a failure is not lost. */
export function useDecisionMessages(accountId: number) {
  const queryClient = useQueryClient();
  const queryKey = ['decision messages', accountId];
  const { data: messages } = useQuery<DecisionMessage[]>({
    queryKey,
    queryFn: () => [],
    initialData: [],
    enabled: false,
    staleTime: Number.POSITIVE_INFINITY,
    gcTime: Number.POSITIVE_INFINITY,
  });
  const change = (to: (all: DecisionMessage[]) => DecisionMessage[]) =>
    queryClient.setQueryData<DecisionMessage[]>(queryKey, (all = []) => to(all));
  return {
    messages,
    /** The messages at this moment, which a render may not have yet. */
    latest: () => queryClient.getQueryData<DecisionMessage[]>(queryKey) ?? [],
    /** Adds a message, or replaces the one with its id. */
    put: (message: DecisionMessage) => change((all) => [...all.filter(({ id }) => id !== message.id), message]),
    drop: (id: string) => change((all) => all.filter((message) => message.id !== id)),
    /** Ends the messages whose time is over. */
    expire: () => change((all) => all.filter(({ state, until }) => state !== 'done' || until > Date.now())),
    /** Takes orders out of messages about failures: they are decided again, or were decided after all. */
    settle: (isSettled: (id: number, message: DecisionMessage) => boolean) =>
      change((all) =>
        all.flatMap((message) => {
          if (message.state !== 'failed') return [message];
          const ids = message.ids.filter((id) => !isSettled(id, message));
          return ids.length === message.ids.length ? [message] : ids.length > 0 ? [{ ...message, ids }] : [];
        }),
      ),
  };
}
