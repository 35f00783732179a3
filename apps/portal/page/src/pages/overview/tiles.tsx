import type { ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import { Link } from 'wouter';
import type { Overview } from '../../api/overview.ts';
import { useAccountId } from '../../api/session.ts';
import { formatCount, formatDuration } from '../../components/numbers.ts';
import { pendingOf } from './series.ts';

/** The totals of the range. */
export function Tiles({ totals }: { totals: Overview['totals'] }): ReactNode {
  const { t } = useTranslation('overview');
  const receipts = `/accounts/${useAccountId()}/receipts`;
  const moving = pendingOf(totals);
  const ms = (value: number | null) => (value === null ? '–' : formatDuration(value));
  return (
    <dl className="tiles">
      <Tile
        name="accepted"
        value={formatCount(totals.accepted)}
        hint={moving > 0 ? t('moving', { count: moving }) : ''}
      />
      <Tile name="written" value={formatCount(totals.written)} />
      <Tile name="duplicate" value={formatCount(totals.duplicate)} />
      <Tile
        name="failed"
        value={formatCount(totals.failed)}
        kind={totals.failed > 0 ? 'is-warn' : ''}
        href={totals.failed > 0 ? `${receipts}?state=failed` : null}
      />
      <Tile
        name="dead"
        value={formatCount(totals.dead)}
        kind={totals.dead > 0 ? 'is-bad' : ''}
        href={totals.dead > 0 ? `${receipts}?state=dead` : null}
      />
      <Tile name="p50" value={ms(totals.p50_ms)} hint={t('within99', { time: ms(totals.p99_ms) })} />
    </dl>
  );
}

function Tile({
  name,
  value,
  hint = '',
  kind = '',
  href = null,
}: {
  name: string;
  value: string;
  hint?: string;
  kind?: string;
  href?: string | null;
}): ReactNode {
  const { t } = useTranslation('overview');
  return (
    <div className={`card tile ${kind}`}>
      <dt>{t(`tile.${name}`)}</dt>
      <dd>
        <strong>{href ? <Link href={href}>{value}</Link> : value}</strong>
        {hint && <span className="hint">{hint}</span>}
      </dd>
    </div>
  );
}
