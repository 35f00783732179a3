import {
  CircleQuestionMark,
  Languages,
  LogOut,
  type LucideIcon,
  Monitor,
  Moon,
  Rows3,
  Rows4,
  Sun,
  UserRound,
} from 'lucide-react';
import { useTranslation } from 'react-i18next';
import { useLocation } from 'wouter';
import { useCanIn, useSession } from '../../api/session.ts';
import { density, theme } from '../../components/preference.ts';
import { LANGUAGES, type Language } from '../../locales/index.ts';
import { OPERATOR_SECTIONS, offeredSections, type Section } from '../pages.ts';
import { useSetLanguage } from '../preferences.tsx';
import { useSignOut } from '../user-menu.tsx';

/** Everything, or only the accounts, for a user who switches to another one. */
export type PaletteScope = 'all' | 'accounts';

export interface Command {
  id: string;
  label: string;
  hint?: string;
  Icon?: LucideIcon;
  run: () => void;
}

/** `name` is a locale key below `palette`. */
export interface CommandGroupEntry {
  name: string;
  commands: Command[];
}

const THEME_ICONS = { system: Monitor, light: Sun, dark: Moon };
const DENSITY_ICONS = { comfortable: Rows3, compact: Rows4 };

/** The pages that the user may open, and what they can do on every page. */
export function useCommands(accountId: number | undefined): CommandGroupEntry[] {
  const { t, i18n } = useTranslation();
  const { role } = useSession();
  const can = useCanIn(accountId);
  const [, navigate] = useLocation();
  const setLanguage = useSetLanguage();
  const signOut = useSignOut();
  const open = (id: string, label: string, Icon: LucideIcon, path: string) => ({
    id,
    label,
    Icon,
    run: () => navigate(path),
  });
  const pagesOf = ({ Icon, pages }: Section, base: string) =>
    pages.map((page) => open(`page ${page.name}`, t(`nav.${page.name}`), page.Icon ?? Icon, base + page.path));
  const pages = [
    ...(accountId === undefined
      ? []
      : offeredSections(can).flatMap((section) => pagesOf(section, `/accounts/${accountId}`))),
    ...(role === 'operator' ? OPERATOR_SECTIONS.flatMap((section) => pagesOf(section, '/operator')) : []),
    open('page profile', t('account.profile'), UserRound, '/profile'),
  ];
  const languages = Object.entries(LANGUAGES).filter(([code]) => code !== i18n.language);
  const actions: Command[] = [
    ...languages.map(([code, name]) => ({
      id: `language ${code}`,
      label: name,
      hint: t('language'),
      Icon: Languages,
      run: () => setLanguage(code as Language),
    })),
    ...theme.values.map((value) => ({
      id: `theme ${value}`,
      label: t(`theme.${value}`),
      hint: t('theme.label'),
      Icon: THEME_ICONS[value],
      run: () => theme.set(value),
    })),
    ...density.values.map((value) => ({
      id: `density ${value}`,
      label: t(`density.${value}`),
      hint: t('density.label'),
      Icon: DENSITY_ICONS[value],
      run: () => density.set(value),
    })),
    {
      id: 'help',
      label: t('help.link'),
      Icon: CircleQuestionMark,
      run: () => window.open(`/help/${i18n.language}`, '_blank', 'noopener'),
    },
    { id: 'sign out', label: t('account.signOut'), Icon: LogOut, run: signOut },
  ];
  return [
    { name: 'pages', commands: pages },
    { name: 'actions', commands: actions },
  ];
}
