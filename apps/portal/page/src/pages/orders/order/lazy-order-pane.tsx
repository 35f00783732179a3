import { type ComponentProps, type ReactNode, Suspense, useEffect } from 'react';
import { Skeleton } from '../../../components/loaded.tsx';
import { lazyPage } from '../../lazy-page.tsx';
import type OrderPane from './order-pane.tsx';

const Pane = lazyPage('order', () => import('./order-pane.tsx'), []);

/** The order pane, whose code is loaded after the list. */
export function LazyOrderPane(props: ComponentProps<typeof OrderPane>): ReactNode {
  return (
    <Suspense
      fallback={
        <section className="order-pane">
          <Skeleton count={8} />
        </section>
      }
    >
      <Pane {...props} />
    </Suspense>
  );
}

/** Loads the code of the order pane once the list is shown, so that the first order opens at once. */
export function useOrderPanePreload(isListShown: boolean): void {
  useEffect(() => {
    if (!isListShown) return;
    // After the rows are drawn.
    const timer = setTimeout(Pane.preload, 100);
    return () => clearTimeout(timer);
  }, [isListShown]);
}
