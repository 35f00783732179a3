// First, so that the styles of pages and components come later and override them.
import './styles/tokens.css';
import './styles/base.css';
import './styles/components.css';
import './styles/forms.css';
import './styles/layout.css';
import { QueryClient, QueryClientProvider } from '@tanstack/react-query';
import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { isProblem, onSignedOut } from './api/client.ts';
import { App } from './app.tsx';
import { Notices } from './components/notices.tsx';
import { initLocales } from './locales/index.ts';
import { applyTheme } from './pages/preferences.tsx';

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

// Shows the sign-in page in place of the open page, which returns after signing in.
onSignedOut(() => void queryClient.invalidateQueries({ queryKey: ['session'] }));

const root = document.getElementById('root');
if (root) {
  applyTheme();
  await initLocales();
  createRoot(root).render(
    <StrictMode>
      <QueryClientProvider client={queryClient}>
        <Notices>
          <App />
        </Notices>
      </QueryClientProvider>
    </StrictMode>,
  );
}
