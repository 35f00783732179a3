import type { EventPage, OrdersEvent } from '@orders/client';
import type { Session } from '../retry-gate.ts';
import { MAX_PAGE } from './read-log.ts';

/** An event as people name it. */
export type EventReference = { id: string } | { sequence: number };

const readPage = ({ client, gate, signal }: Session, after: string | number | undefined, limit: number) =>
  gate.run<EventPage>(() => client.getEvents({ after, limit, signal }));

/** The cursor behind all stored events. */
export async function newestCursor(session: Session): Promise<string> {
  return (await readPage(session, 'newest', 1)).next;
}

/**
 * Finds a stored event. The log cannot be searched, so an id is looked for in parts of it, the newest first and each twice as long as the
 * one before.
 *
 * @returns null if it is not stored.
 */
export async function findEvent(session: Session, reference: EventReference): Promise<OrdersEvent | null> {
  const oldest = await oldestCursor(session);
  const newest = Number(await newestCursor(session));
  if ('sequence' in reference) {
    const { sequence } = reference;
    if (sequence <= oldest || sequence > newest) return null;
    const [event] = (await readPage(session, sequence - 1, 1)).events;
    return event?.data.sequence === sequence ? event : null;
  }
  for (let [end, length] = [newest, MAX_PAGE]; end > oldest; length *= 2) {
    const begin = Math.max(oldest, end - length);
    for (let cursor = begin; cursor < end; ) {
      const { events, next } = await readPage(session, cursor, MAX_PAGE);
      const found = events.find(({ id }) => id === reference.id);
      if (found) return found;
      if (events.length === 0) break;
      cursor = Number(next);
    }
    end = begin;
  }
  return null;
}

/** The cursor before the first event that happened at this time or later. Sequences follow the times, but for seconds. */
export async function cursorAt(session: Session, time: number): Promise<string> {
  let before = await oldestCursor(session);
  let after = Number(await newestCursor(session));
  while (before < after) {
    const middle = Math.floor((before + after) / 2);
    const [event] = (await readPage(session, middle, 1)).events;
    if (event && Date.parse(event.timestamp) < time) before = event.data.sequence;
    else after = middle;
  }
  return String(after);
}

/** The cursor before the oldest stored event. */
async function oldestCursor(session: Session): Promise<number> {
  const { events, next } = await readPage(session, undefined, 1);
  return events[0] ? events[0].data.sequence - 1 : Number(next);
}
