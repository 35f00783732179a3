import { TriangleAlert } from 'lucide-react';
import { type ReactNode, useEffect } from 'react';
import { ErrorBoundary, type FallbackProps } from 'react-error-boundary';
import { useTranslation } from 'react-i18next';
import { Button } from './button.tsx';

/**
 * Shows a message in place of a page that fails to load or to render. It tries again when `resetKeys` change, when the network is back, and on
 * request; `onReset` runs before.
 */
export function PageBoundary(props: {
  resetKeys: readonly unknown[];
  onReset: () => void;
  children: ReactNode;
}): ReactNode {
  return (
    <ErrorBoundary FallbackComponent={PageProblem} resetKeys={[...props.resetKeys]} onReset={props.onReset}>
      {props.children}
    </ErrorBoundary>
  );
}

function PageProblem({ resetErrorBoundary }: FallbackProps): ReactNode {
  const { t } = useTranslation();
  useEffect(() => {
    window.addEventListener('online', resetErrorBoundary);
    return () => window.removeEventListener('online', resetErrorBoundary);
  }, [resetErrorBoundary]);
  return (
    <div className="stack-tight empty-state" role="alert">
      <TriangleAlert aria-hidden="true" size={32} className="empty-icon" />
      <p className="empty-title">{t('pageProblem.title')}</p>
      <p className="hint">{t('pageProblem.text')}</p>
      <div className="row">
        <Button kind="main" onClick={resetErrorBoundary}>
          {t('action.retry')}
        </Button>
        <Button onClick={() => window.location.reload()}>{t('action.reload')}</Button>
      </div>
    </div>
  );
}
