import type { ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import type { Attempt } from '../../../api/events.ts';

/** Why an attempt failed. A newer version may have stored a reason that this one does not know. */
export function AttemptError({ attempt: { error, status } }: { attempt: Attempt }): ReactNode {
  const { t, i18n } = useTranslation('events');
  if (error === null) return null;
  const isKnown = i18n.exists(`events:error.${error}`);
  return isKnown ? t(`error.${error}`, { id: status }) : <code dir="ltr">{error}</code>;
}
