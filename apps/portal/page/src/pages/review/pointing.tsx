import { createContext, type ReactNode, useContext, useMemo, useState } from 'react';

interface Pointing {
  /** The place in the payload that the pointer or the focus is at, here or there. */
  pointed: string | null;
  point(pointer: string | null): void;
}

const PointingContext = createContext<Pointing>({ pointed: null, point: () => {} });

/** Ties the warnings of an order to the members of its payload: what is pointed at on one side lights up on the other. */
export function PointingArea({ children }: { children: ReactNode }): ReactNode {
  const [pointed, point] = useState<string | null>(null);
  return <PointingContext value={useMemo(() => ({ pointed, point }), [pointed])}>{children}</PointingContext>;
}

/** What one end of such a tie needs to know and to say. */
export function usePointing(pointer: string) {
  const { pointed, point } = useContext(PointingContext);
  const begin = () => point(pointer);
  const end = () => point(null);
  return {
    isPointed: pointed === pointer,
    handlers: { onMouseEnter: begin, onMouseLeave: end, onFocus: begin, onBlur: end },
  };
}

export const rawIdOf = (pointer: string) => `raw:${pointer}`;
export const warningIdOf = (pointer: string) => `warning:${pointer}`;

/** Goes to the other end of a tie. */
export function goTo(id: string): void {
  const element = document.getElementById(id);
  element?.scrollIntoView({ block: 'nearest' });
  element?.focus({ preventScroll: true });
}
