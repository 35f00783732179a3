import { type ComponentType, lazy, type ReactNode } from 'react';
import { loadTexts } from '../locales/index.ts';

/** A page whose code and texts are loaded when it is first opened. */
export interface LazyPage<Props = object> {
  (props: Props): ReactNode;
  /** Starts loading; errors show when the page is opened. */
  preload(): void;
}

const failed = new Set<() => void>();

/** React remembers that a page failed to load; this makes it load again. */
export function forgetFailedPages(): void {
  for (const forget of failed) forget();
  failed.clear();
}

/** After a deploy, the files that an open page would load no longer exist, so the first failure of each page reloads the portal once. */
export function lazyPage<Props extends object>(
  name: string,
  load: () => Promise<{ default: ComponentType<Props> }>,
  namespaces: readonly string[],
): LazyPage<Props> {
  const reloaded = `reloaded for ${name}`;
  const start = async () => {
    const [page] = await Promise.all([load(), loadTexts(namespaces)]);
    return page;
  };
  const create = () =>
    lazy(async () => {
      try {
        const module = await start();
        sessionStorage.removeItem(reloaded);
        return module;
      } catch (error) {
        failed.add(() => {
          Content = create();
        });
        if (sessionStorage.getItem(reloaded) !== null || !(await isReachable())) throw error;
        sessionStorage.setItem(reloaded, 'yes');
        window.location.reload();
        return new Promise<never>(() => {});
      }
    });
  let Content = create();
  // biome-ignore lint/correctness/noComponentHookFactories: called once for each page, when the module is loaded.
  const Page: LazyPage<Props> = (props) => <Content {...props} />;
  Page.preload = () => void start().catch(() => {});
  return Page;
}

/** Without the service, a reload would end at the browser's own error page. */
function isReachable(): Promise<boolean> {
  return fetch('/', { method: 'HEAD', cache: 'no-store' }).then(
    ({ ok }) => ok,
    () => false,
  );
}
