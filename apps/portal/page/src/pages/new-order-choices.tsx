import { type ReactNode, useState } from 'react';
import { useTranslation } from 'react-i18next';
import type { SessionAccount } from '../api/session.ts';
import { FieldError } from '../components/field.tsx';
import { desktopNotice, sound, titleCount } from '../components/preference.ts';
import { Switch } from '../components/segments.tsx';
import { permitTone, playTone } from '../components/tone.ts';

/**
 * Whether new orders are announced to a user of an account. Operators are no users of it, and what their hidden pages read would be in its
 * activity log.
 */
export function mayBeAlerted(own: SessionAccount | undefined): boolean {
  return own?.permissions.includes('review') ?? false;
}

/** How new orders are announced on this device. */
export function NewOrderChoices(): ReactNode {
  const { t } = useTranslation();
  const isCounted = titleCount.use() === 'on';
  const isHeard = sound.use() === 'on';
  const switchSound = () => {
    sound.set(isHeard ? 'off' : 'on');
    if (isHeard) return;
    permitTone();
    void playTone();
  };
  return (
    <fieldset className="new-order-choices">
      <legend className="hint">{t('newOrders.label')}</legend>
      <Switch
        isOn={isCounted}
        label={t('newOrders.titleCount')}
        onClick={() => titleCount.set(isCounted ? 'off' : 'on')}
      />
      <Switch isOn={isHeard} label={t('newOrders.sound')} onClick={switchSound} />
      {'Notification' in window && <DesktopNoticeSwitch />}
    </fieldset>
  );
}

/** The browser asks the user before the first notice; without permission the switch stays off. */
function DesktopNoticeSwitch(): ReactNode {
  const { t } = useTranslation();
  const [isAsking, setAsking] = useState(false);
  const [isForbidden, setForbidden] = useState(false);
  const isOn = desktopNotice.use() === 'on' && Notification.permission === 'granted';
  const change = async () => {
    setForbidden(false);
    if (isOn) return desktopNotice.set('off');
    setAsking(true);
    const permission = await Notification.requestPermission();
    setAsking(false);
    if (permission === 'granted') desktopNotice.set('on');
    else setForbidden(true);
  };
  return (
    <>
      <Switch isOn={isOn} isBusy={isAsking} label={t('newOrders.desktopNotice')} onClick={() => void change()} />
      <FieldError text={isForbidden && t('newOrders.forbidden')} />
    </>
  );
}
