import { lazy, type ReactNode, Suspense } from 'react';
import { useTranslation } from 'react-i18next';
import { HelpLink } from '../../components/help-link.tsx';
import { PageHeader } from '../../components/page-header.tsx';
import { Skeleton } from '../../components/skeleton.tsx';
import { ReviewSummary } from './review-summary.tsx';
import './overview.css';

const Processing = lazy(() => import('./processing.tsx').then((module) => ({ default: module.Processing })));

/** First what waits for reviewers, then how orders are processed, for engineers. */
export function OverviewPage(): ReactNode {
  const { t } = useTranslation('overview');
  return (
    <div className="stack overview">
      <PageHeader title={t('title')} about={t('about')}>
        <HelpLink page="overview" />
      </PageHeader>
      <ReviewSummary />
      <Suspense fallback={<Skeleton shape="blocks" count={3} />}>
        <Processing />
      </Suspense>
    </div>
  );
}
