/** @returns sets whether the browser asks before the tab is closed. While not, there is no listener: it keeps pages out of the back/forward cache. */
export function createUnloadGuard(): (isNeeded: boolean) => void {
  const ask = (event: BeforeUnloadEvent) => event.preventDefault();
  return (isNeeded) => {
    if (isNeeded) window.addEventListener('beforeunload', ask);
    else window.removeEventListener('beforeunload', ask);
  };
}
