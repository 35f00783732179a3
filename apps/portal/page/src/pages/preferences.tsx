import { type ReactNode, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { LANGUAGES, type Language, setLanguage } from '../locales/index.ts';

export function LanguageSelect(): ReactNode {
  const { t, i18n } = useTranslation();
  return (
    <label className="choice">
      <span>{t('language')}</span>
      <select value={i18n.language} onChange={(event) => void setLanguage(event.target.value as Language)}>
        {Object.entries(LANGUAGES).map(([code, name]) => (
          <option key={code} value={code}>
            {name}
          </option>
        ))}
      </select>
    </label>
  );
}

const THEMES = ['system', 'light', 'dark'] as const;
type Theme = (typeof THEMES)[number];

/** Applies the stored theme. */
export function applyTheme(): Theme {
  const stored = localStorage.getItem('theme');
  const theme = THEMES.find((value) => value === stored) ?? 'system';
  if (theme === 'system') delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = theme;
  return theme;
}

export function ThemeSelect(): ReactNode {
  const { t } = useTranslation();
  const [theme, setTheme] = useState(applyTheme);
  return (
    <label className="choice">
      <span>{t('theme.label')}</span>
      <select
        value={theme}
        onChange={(event) => {
          localStorage.setItem('theme', event.target.value);
          setTheme(applyTheme());
        }}
      >
        {THEMES.map((value) => (
          <option key={value} value={value}>
            {t(`theme.${value}`)}
          </option>
        ))}
      </select>
    </label>
  );
}
