import { Cable, Plus } from 'lucide-react';
import { type ReactNode, useId, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { Link } from 'wouter';
import { useAccountId, useCan } from '../../api/session.ts';
import { type Source, useSources } from '../../api/sources.ts';
import { Button } from '../../components/button.tsx';
import { EmptyState, Loaded, LoadedOne, Skeleton } from '../../components/loaded.tsx';
import { formatShare } from '../../components/numbers.ts';
import { HelpLink, PageHeader } from '../../components/page-header.tsx';
import { WayBack } from '../../components/tab-links.tsx';
import { Ago, fullTime } from '../../components/time.tsx';
import { type SourcesView, sourcesHref, useSourcesView } from '../addresses.ts';
import { MappingEditor } from './mapping/mapping-editor.tsx';
import { ConnectSource } from './new-source/connect-source.tsx';
import { NewSource } from './new-source/new-source.tsx';
import { IdPrefix, SOURCE_ACTIONS, type SourceAction, SourceDialog, SourceUrl } from './source-dialogs.tsx';
import './shops.css';

/** The platforms that send orders to the account; connections and mappings only for developers. */
export default function ShopsPage(): ReactNode {
  const { t } = useTranslation('sources');
  const view = useSourcesView();
  const accountId = useAccountId();
  const mayChange = useCan()('develop');
  if (view.show === 'list' || !mayChange) return <SourceList />;
  return (
    <div className="stack">
      <WayBack href={sourcesHref(accountId)}>{t('all')}</WayBack>
      {view.show === 'new' && view.sourceNumber === null ? <NewSource /> : <OpenedSource {...view} />}
    </div>
  );
}

/** A source's mapping, or a step to connect it. */
function OpenedSource({ show, sourceNumber, delivery }: SourcesView): ReactNode {
  const { t } = useTranslation('sources');
  const sources = useSources(useAccountId(), show === 'test' ? 2000 : 10_000);
  return (
    <LoadedOne query={sources} is={({ source_number }) => source_number === sourceNumber} gone={t('gone')}>
      {(source) =>
        show === 'mapping' ? (
          <MappingEditor key={`${sourceNumber} ${delivery}`} source={source} opened={delivery} />
        ) : (
          <ConnectSource
            key={sourceNumber}
            source={source}
            step={show === 'connect' || show === 'test' ? show : 'platform'}
          />
        )
      }
    </LoadedOne>
  );
}

/** The account's sources with their URLs, activity and actions. */
function SourceList(): ReactNode {
  const { t } = useTranslation('sources');
  const accountId = useAccountId();
  const query = useSources(accountId);
  const mayChange = useCan()('develop');
  const [open, setOpen] = useState<{ action: SourceAction; source: Source } | null>(null);
  const hasNone = query.data?.length === 0;
  const create = mayChange && (
    <Link className="button button-main" href={sourcesHref(accountId, 'new')}>
      <Plus aria-hidden="true" size={16} />
      {t('create')}
    </Link>
  );
  return (
    <div className="stack">
      <PageHeader title={t('common:nav.shops')} about={t('about')}>
        <HelpLink page="sources" />
        {!hasNone && create}
      </PageHeader>
      <Loaded query={query} skeleton={<Skeleton shape="rows" count={2} />}>
        {(sources) =>
          hasNone ? (
            <EmptyState
              icon={<Cable size={22} />}
              title={t('none')}
              text={mayChange ? t('noneAbout') : undefined}
              action={create}
            />
          ) : (
            <ul className="plain lined-list is-wide source-list">
              {sources.map((source) => (
                <SourceItem
                  key={source.source_number}
                  source={source}
                  onAction={(action) => setOpen({ action, source })}
                />
              ))}
            </ul>
          )
        }
      </Loaded>
      {open && <SourceDialog {...open} onClose={() => setOpen(null)} />}
    </div>
  );
}

/** One source in the list. */
function SourceItem(props: { source: Source; onAction: (action: SourceAction) => void }): ReactNode {
  const { t } = useTranslation('sources');
  const accountId = useAccountId();
  const mayChange = useCan()('develop');
  const nameId = useId();
  const { source, onAction } = props;
  const { source_number, name, preset, url, previous_until } = source;
  return (
    <li className="stack-tight" aria-labelledby={nameId}>
      <p className="row">
        <strong id={nameId}>
          <bdi>{name}</bdi>
        </strong>
        <span className="badge">{t(`preset.${preset}`)}</span>
      </p>
      {url !== null && <SourceUrl url={url} />}
      <IdPrefix source={source} />
      <Activity source={source} />
      {previous_until && <p className="hint">{t('secret.until', { time: fullTime(previous_until) })}</p>}
      {mayChange && (
        <div className="row">
          {(['mapping', 'connect'] as const).map((view) => (
            <Link
              key={view}
              className="button"
              href={sourcesHref(accountId, view, source_number)}
              aria-describedby={nameId}
            >
              {t(`action.${view}`)}
            </Link>
          ))}
          {SOURCE_ACTIONS.map((action) => (
            <Button
              key={action}
              kind={action === 'remove' ? 'bad' : undefined}
              aria-describedby={nameId}
              onClick={() => onAction(action)}
            >
              {t(`action.${action}`)}
            </Button>
          ))}
        </div>
      )}
    </li>
  );
}

/** The share of deliveries that became orders or cancellations; null without deliveries. */
function successOf({
  order = 0,
  unpaid = 0,
  cancellation = 0,
  mapping_failed = 0,
  rejected = 0,
}: Source['counts']): number | null {
  const taken = order + unpaid + cancellation;
  const all = taken + mapping_failed + rejected;
  return all === 0 ? null : taken / all;
}

/** Outcomes of deliveries of which no order is made. */
const WITHOUT_ORDER = ['finished', 'ignored'] as const;

function Activity({ source: { source_number, last_at, counts, dead } }: { source: Source }): ReactNode {
  const { t } = useTranslation('sources');
  const account = `/accounts/${useAccountId()}`;
  const failed = `${account}/receipts?state=dead&error_code=mapping_failed`;
  const unpaid = `${account}/orders?state=awaiting_payment&source=${source_number}`;
  const success = successOf(counts);
  return (
    <p className="hint row wide-gaps">
      <span>
        {t('last')} {last_at === null ? t('never') : <Ago at={last_at} />}
      </span>
      {success !== null && <span>{t('success', { share: formatShare(success) })}</span>}
      {WITHOUT_ORDER.map((outcome) => {
        const { [outcome]: count = 0 } = counts;
        return count > 0 && <span key={outcome}>{t(`counts.${outcome}`, { count })}</span>;
      })}
      {counts.unpaid !== undefined && <Link href={unpaid}>{t('counts.unpaid')}</Link>}
      {dead > 0 && <Link href={failed}>{t('dead', { count: dead })}</Link>}
    </p>
  );
}
