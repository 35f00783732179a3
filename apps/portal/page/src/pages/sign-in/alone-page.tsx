import type { ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import { usePageTitle } from '../../components/page-header.tsx';
import { LanguageChoice } from '../preferences.tsx';

/** A page outside of the portal's frame, in one narrow column with the choice of the language below. */
export function AlonePage({ title, children }: { title?: string; children: ReactNode }): ReactNode {
  const { t } = useTranslation();
  usePageTitle(title ?? '', t('title'));
  return (
    <main className="alone">
      {children}
      <LanguageChoice />
    </main>
  );
}
