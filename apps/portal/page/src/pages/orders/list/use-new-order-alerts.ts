import { useEffect, useEffectEvent, useRef, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { useOwnAccount } from '../../../api/session.ts';
import { useTitleCount } from '../../../components/page-header.tsx';
import { desktopNotice, sound, titleCount } from '../../../components/preference.ts';
import { mayPlayTone, permitTone, playTone } from '../../../components/tone.ts';
import { useIsHidden } from '../../../components/use-is-hidden.ts';
import { mayBeAlerted } from '../../new-order-choices.tsx';
import type { Announcement } from './use-arrivals.ts';

/** Whether the user wants to know of new orders while the page is hidden. */
export function useWantsAlerts(accountId: number): boolean {
  const choices = [titleCount.use(), sound.use(), desktopNotice.use()];
  return mayBeAlerted(useOwnAccount(accountId)) && choices.includes('on');
}

/**
 * Announces new orders as the user has chosen: by a count in the title and a notice while the page is hidden, and by a sound. Of several tabs,
 * one plays the sound and, if none is seen, shows the notice.
 */
export function useNewOrderAlerts(accountId: number, announcement: Announcement | null): void {
  const { t, i18n } = useTranslation('review');
  const own = useOwnAccount(accountId);
  const wantsAlerts = useWantsAlerts(accountId);
  const isCounted = titleCount.use() === 'on';
  const isHeard = sound.use() === 'on';
  const isHidden = useIsHidden();
  const notice = useRef<Notification | null>(null);
  const [count, setCount] = useState(0);
  useTitleCount(isCounted ? count : 0);

  const alert = useEffectEvent(async ({ count: arrived, newestId }: Announcement) => {
    if (!wantsAlerts) return;
    if (isHidden) setCount(count + arrived);
    if (isHeard && mayPlayTone() && (await isFirstTab(`tone for ${accountId} ${newestId}`))) void playTone();
    if (desktopNotice.get() !== 'on' || !document.hidden || (await isSeen(accountId))) return;
    if (!(await isFirstTab(`notice for ${accountId} ${newestId}`))) return;
    // One that replaces another is shown without a signal, so the other one goes first.
    notice.current?.close();
    notice.current = showNotice(t('list.new', { count: count + arrived }), {
      body: own?.name ?? '',
      tag: `new orders ${accountId}`,
      lang: i18n.language,
      dir: i18n.dir(),
    });
  });
  useEffect(() => {
    if (announcement) void alert(announcement);
  }, [announcement]);

  useEffect(() => {
    if (isHidden) return;
    setCount(0);
    notice.current?.close();
    notice.current = null;
  }, [isHidden]);

  useEffect(() => {
    if (isHidden || !HAS_LOCKS) return;
    const { promise, resolve } = Promise.withResolvers<void>();
    void navigator.locks.request(seenLock(accountId), { mode: 'shared' }, () => promise);
    return resolve;
  }, [isHidden, accountId]);

  usePermittedTone(wantsAlerts && isHeard);
}

/** Browsers have locks only on HTTPS and on the machine itself. */
const HAS_LOCKS = 'locks' in navigator;
/** Held by each tab in which the orders of an account are seen. */
const seenLock = (accountId: number) => `orders of ${accountId} are seen`;

/** Whether the orders of an account are seen in any tab of the browser. */
async function isSeen(accountId: number): Promise<boolean> {
  if (!HAS_LOCKS) return false;
  const { held = [] } = await navigator.locks.query();
  return held.some(({ name }) => name === seenLock(accountId));
}

/** A hidden tab may learn of the same orders a minute later. */
const CLAIMED_MS = 2 * 60_000;

/** Whether this tab is the first of the browser to claim a name, which it then holds for two minutes. */
async function isFirstTab(name: string): Promise<boolean> {
  if (!HAS_LOCKS) return true;
  return new Promise((resolve) => {
    void navigator.locks.request(name, { ifAvailable: true }, async (lock) => {
      resolve(lock !== null);
      if (lock) await new Promise((release) => setTimeout(release, CLAIMED_MS));
    });
  });
}

/** Shows a notice of the desktop, whose click leads to this tab; null if the browser shows none. */
function showNotice(title: string, options: NotificationOptions): Notification | null {
  try {
    const notice = new Notification(title, options);
    notice.onclick = () => {
      window.focus();
      notice.close();
    };
    return notice;
  } catch {
    // Browsers of phones have `Notification`, and permit it only to service workers.
    return null;
  }
}

/** After the page is loaded again, its first click or key press permits tones. */
function usePermittedTone(isOn: boolean): void {
  useEffect(() => {
    if (!isOn) return;
    const gestures = ['click', 'keydown'] as const;
    for (const gesture of gestures) document.addEventListener(gesture, permitTone, { once: true });
    return () => {
      for (const gesture of gestures) document.removeEventListener(gesture, permitTone);
    };
  }, [isOn]);
}
