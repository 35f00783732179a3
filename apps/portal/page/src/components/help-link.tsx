import { CircleQuestionMark } from 'lucide-react';
import type { ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import './help-link.css';

/** Links to a page of docs/portal in the user's language. A new tab, so that nothing typed on this page is lost. */
export function HelpLink({
  page,
  anchor,
  isIcon = false,
}: {
  /** File name without `.md`; the index without it. */
  page?: string;
  /** An `<a id>` of the page, the same in both languages. */
  anchor?: string;
  /** Shows no text, for a toolbar. */
  isIcon?: boolean;
}): ReactNode {
  const { t, i18n } = useTranslation();
  const path = page ? `/help/${i18n.language}/${page}` : `/help/${i18n.language}`;
  return (
    <a
      href={anchor ? `${path}#${anchor}` : path}
      target="_blank"
      rel="noopener"
      className={isIcon ? 'icon-button' : 'help-link'}
      title={isIcon ? t('help.link') : undefined}
    >
      <CircleQuestionMark aria-hidden="true" size={isIcon ? 20 : 16} />
      <span className={isIcon ? 'visually-hidden' : undefined}>{t('help.link')}</span>
      <span className="visually-hidden">{t('help.newTab')}</span>
    </a>
  );
}
