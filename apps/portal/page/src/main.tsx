// First, so that the styles of pages and components come later and override them.
import './styles/fonts.css';
import './styles/tokens.css';
import './styles/base.css';
import './styles/components.css';
import './styles/lists.css';
import './styles/forms.css';
import './styles/choices.css';
import './styles/overlays.css';
import './styles/layout.css';
import { QueryClient, QueryClientProvider } from '@tanstack/react-query';
import { options } from 'preact';
import { Suspense } from 'react';
import { createRoot } from 'react-dom/client';
import { isProblem, onForbidden, onSignedOut } from './api/client.ts';
import { SESSION_QUERY } from './api/session.ts';
import { App } from './app.tsx';
import { Notices } from './components/notices.tsx';
import { initLocales } from './locales/index.ts';
import { preloadPage } from './pages/pages.ts';

// Preact runs effects after the next frame. A key press could come before, and find neither the focus nor the page where it should be.
options.requestAnimationFrame = queueMicrotask;

const queryClient = new QueryClient({
  defaultOptions: {
    queries: {
      staleTime: 5000,
      // Client errors are final; retry only server and network errors.
      retry: (failures, error) => failures < 3 && !(isProblem(error) && error.status < 500),
    },
    // Without a network, show the error instead of waiting.
    mutations: { networkMode: 'always' },
  },
});

// Asks for the session once; the pages below go on polling.
onSignedOut(() => {
  if (queryClient.getQueryData(SESSION_QUERY.queryKey) !== null) void queryClient.invalidateQueries(SESSION_QUERY);
});

// The role was changed, or the account suspended, since the session was loaded: the page then shows what is still permitted.
onForbidden(() => void queryClient.invalidateQueries(SESSION_QUERY));

async function start(root: HTMLElement): Promise<void> {
  const texts = initLocales();
  void queryClient.prefetchQuery(SESSION_QUERY);
  preloadPage(window.location.pathname);
  try {
    await texts;
  } catch {
    // The browser logs the file that it could not load. Without texts there is only the note of index.html, now at once.
    root.firstElementChild?.classList.add('is-certain');
    return;
  }
  root.replaceChildren();
  createRoot(root).render(
    <QueryClientProvider client={queryClient}>
      <Suspense>
        <Notices>
          <App />
        </Notices>
      </Suspense>
    </QueryClientProvider>,
  );
}

const root = document.getElementById('root');
if (root) void start(root);
