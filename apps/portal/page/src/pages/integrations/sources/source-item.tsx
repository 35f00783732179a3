import { type ReactNode, useId } from 'react';
import { useTranslation } from 'react-i18next';
import { Link } from 'wouter';
import { useAccountId, useCan } from '../../../api/session.ts';
import type { Source } from '../../../api/sources.ts';
import { CopyButton } from '../../../components/copy-button.tsx';
import { formatShare } from '../../../components/numbers.ts';
import { Ago, fullTime } from '../../../components/time.tsx';
import { IdPrefix } from './id-prefix.tsx';
import { deadHref, type SourceAction } from './source-dialogs.tsx';
import { sourcesHref } from './use-sources-view.ts';

/** One source in the list. */
export function SourceItem(props: { source: Source; onAction: (action: SourceAction) => void }): ReactNode {
  const { t } = useTranslation('sources');
  const accountId = useAccountId();
  const mayChange = useCan()('develop');
  const nameId = useId();
  const { source, onAction } = props;
  const { source_number, name, preset, url, previous_until } = source;
  const actions: SourceAction[] = ['secret', 'url', 'remove'];
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
          <Link className="button" href={sourcesHref(accountId, 'mapping', source_number)} aria-describedby={nameId}>
            {t('action.mapping')}
          </Link>
          <Link className="button" href={sourcesHref(accountId, 'connect', source_number)} aria-describedby={nameId}>
            {t('action.connect')}
          </Link>
          {actions.map((action) => (
            <button
              key={action}
              type="button"
              className={action === 'remove' ? 'button button-bad' : 'button'}
              aria-describedby={nameId}
              onClick={() => onAction(action)}
            >
              {t(`action.${action}`)}
            </button>
          ))}
        </div>
      )}
    </li>
  );
}

/** The URL to paste into the platform. */
export function SourceUrl({ url }: { url: string }): ReactNode {
  return (
    <p className="row source-url">
      <code dir="ltr">{url}</code>
      <CopyButton text={url} />
    </p>
  );
}

/** The share of deliveries that became orders or cancellations; null without deliveries. */
function successOf({ order = 0, cancellation = 0, mapping_failed = 0, rejected = 0 }: Source['counts']): number | null {
  const all = order + cancellation + mapping_failed + rejected;
  return all === 0 ? null : (order + cancellation) / all;
}

function Activity({ source: { last_at, counts, dead } }: { source: Source }): ReactNode {
  const { t } = useTranslation('sources');
  const accountId = useAccountId();
  const success = successOf(counts);
  return (
    <p className="hint row source-activity">
      <span>
        {t('last')} {last_at === null ? t('never') : <Ago at={last_at} />}
      </span>
      {success !== null && <span>{t('success', { share: formatShare(success) })}</span>}
      {dead > 0 && <Link href={deadHref(accountId)}>{t('dead', { count: dead })}</Link>}
    </p>
  );
}
