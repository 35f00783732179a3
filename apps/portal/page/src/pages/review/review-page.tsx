import type { ReactNode } from 'react';
import { useTranslation } from 'react-i18next';

/** The orders that wait for review. */
export function ReviewPage(): ReactNode {
  const { t } = useTranslation();
  return <h1>{t('nav.review')}</h1>;
}
