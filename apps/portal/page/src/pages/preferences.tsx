import type { ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import { useNotices } from '../components/notices.tsx';
import { density, theme } from '../components/preference.ts';
import { Segments } from '../components/segments.tsx';
import { LANGUAGES, type Language, setLanguage } from '../locales/index.ts';

/** Changes the language; if its texts cannot be loaded, says so. */
export function useSetLanguage(): (language: Language) => void {
  const { t } = useTranslation();
  const notices = useNotices();
  return (language) => {
    setLanguage(language).catch(() => notices.show({ kind: 'bad', text: t('problem.unreachable') }));
  };
}

export function LanguageChoice(): ReactNode {
  const { t, i18n } = useTranslation();
  const change = useSetLanguage();
  const options = Object.entries(LANGUAGES).map(([value, name]) => ({ value: value as Language, name, lang: value }));
  return <Segments label={t('language')} options={options} value={i18n.language as Language} onChange={change} />;
}

export function ThemeChoice(): ReactNode {
  const { t } = useTranslation();
  const options = theme.values.map((value) => ({ value, name: t(`theme.${value}`) }));
  return <Segments label={t('theme.label')} options={options} value={theme.use()} onChange={theme.set} />;
}

export function DensityChoice(): ReactNode {
  const { t } = useTranslation();
  const options = density.values.map((value) => ({ value, name: t(`density.${value}`) }));
  return <Segments label={t('density.label')} options={options} value={density.use()} onChange={density.set} />;
}
