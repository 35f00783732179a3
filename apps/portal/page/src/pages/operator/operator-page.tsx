import type { ReactNode } from 'react';
import { useTranslation } from 'react-i18next';

/** All accounts, and the state of the service. */
export function OperatorPage(): ReactNode {
  const { t } = useTranslation();
  return <h1>{t('nav.operator')}</h1>;
}
