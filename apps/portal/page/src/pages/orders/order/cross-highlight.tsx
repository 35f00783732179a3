import { createContext, type ReactNode, useContext, useMemo, useState } from 'react';

interface CrossHighlight {
  /** JSON pointer of the hovered or focused warning or payload member. */
  highlighted: string | null;
  highlight(pointer: string | null): void;
}

const CrossHighlightContext = createContext<CrossHighlight>({ highlighted: null, highlight: () => {} });

/** Links the warnings of an order to the members of its payload: hover or focus on one highlights the other. */
export function CrossHighlightArea({ children }: { children: ReactNode }): ReactNode {
  const [highlighted, highlight] = useState<string | null>(null);
  return (
    <CrossHighlightContext value={useMemo(() => ({ highlighted, highlight }), [highlighted])}>
      {children}
    </CrossHighlightContext>
  );
}

/** State and event handlers of one end of a link. */
export function useCrossHighlight(pointer: string) {
  const { highlighted, highlight } = useContext(CrossHighlightContext);
  const begin = () => highlight(pointer);
  const end = () => highlight(null);
  return {
    isHighlighted: highlighted === pointer,
    handlers: { onMouseEnter: begin, onMouseLeave: end, onFocus: begin, onBlur: end },
  };
}

export const rawIdOf = (pointer: string) => `raw:${pointer}`;
export const warningIdOf = (pointer: string) => `warning:${pointer}`;

/** Scrolls to an element and focuses it; unfolds what contains it. */
export function focusElement(id: string): void {
  const element = document.getElementById(id);
  const folded = element?.closest('details');
  if (folded) folded.open = true;
  element?.scrollIntoView({ block: 'nearest' });
  element?.focus({ preventScroll: true });
}
