import { Cable, Plus } from 'lucide-react';
import { type ReactNode, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { Link } from 'wouter';
import { useCan } from '../../../api/permissions.ts';
import { useAccountId } from '../../../api/session.ts';
import { type Source, useSources } from '../../../api/sources.ts';
import { EmptyState } from '../../../components/empty-state.tsx';
import { HelpLink } from '../../../components/help-link.tsx';
import { ProblemNote } from '../../../components/problem-note.tsx';
import { Skeleton } from '../../../components/skeleton.tsx';
import { type SourceAction, SourceDialog } from './source-dialogs.tsx';
import { SourceItem } from './source-item.tsx';
import { sourcesHref } from './use-sources-view.ts';

/** The account's sources with their URLs, activity and actions. */
export function SourcesCard(): ReactNode {
  const { t } = useTranslation('sources');
  const accountId = useAccountId();
  const sources = useSources(accountId);
  const mayChange = useCan()('develop');
  const [open, setOpen] = useState<{ action: SourceAction; source: Source } | null>(null);
  const hasNone = sources.data?.length === 0;
  const create = mayChange && (
    <Link className="button button-main" href={sourcesHref(accountId, 'new')}>
      <Plus aria-hidden="true" size={16} />
      {t('create')}
    </Link>
  );
  return (
    <section className="card stack" aria-labelledby="sources-title">
      <header className="spread">
        <h2 id="sources-title">{t('title')}</h2>
        <div className="row">
          <HelpLink page="sources" />
          {!hasNone && create}
        </div>
      </header>
      <p className="hint">{t('about')}</p>
      {sources.isError && <ProblemNote error={sources.error} retry={() => void sources.refetch()} />}
      {sources.isPending && <Skeleton shape="rows" count={2} />}
      {hasNone && (
        <EmptyState
          icon={<Cable size={22} />}
          title={t('none')}
          text={mayChange ? t('noneAbout') : undefined}
          action={create}
        />
      )}
      {sources.data && !hasNone && (
        <ul className="plain source-list">
          {sources.data.map((source) => (
            <SourceItem key={source.source_number} source={source} onAction={(action) => setOpen({ action, source })} />
          ))}
        </ul>
      )}
      {open && <SourceDialog {...open} onClose={() => setOpen(null)} />}
    </section>
  );
}
