// First, so that what lies beside a page comes after them and wins.
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
import { startTexts } from './locales/index.ts';
import { applyTheme } from './pages/preferences.tsx';

const queryClient = new QueryClient({
  defaultOptions: {
    queries: {
      staleTime: 5000,
      // What was refused stays refused; only what failed on the way is worth another try.
      retry: (failures, error) => failures < 3 && !(isProblem(error) && error.status < 500),
    },
  },
});

// Then the sign-in takes the place of what was open, and gives it back.
onSignedOut(() => void queryClient.invalidateQueries({ queryKey: ['session'] }));

const root = document.getElementById('root');
if (root) {
  applyTheme();
  await startTexts();
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
