import { type ReactNode, useId, useRef, useState } from 'react';

const MARGIN = 8;

/** A button with a panel below it; Escape and a click elsewhere close it. The content is rendered only while it is open. */
export function Popover(props: {
  label: ReactNode;
  children: (close: () => void) => ReactNode;
  /** The name of the panel. */
  title: string;
  /** The name of the button, if it is more than the text of `label`. */
  name?: string;
  className?: string;
  /** Of the panel, in pixels. */
  width?: number;
}): ReactNode {
  const { label, children, title, name, className = 'button', width = 320 } = props;
  const id = useId();
  const button = useRef<HTMLButtonElement>(null);
  const panel = useRef<HTMLDivElement>(null);
  const [isOpen, setOpen] = useState(false);
  /** Below the button, inside the window. */
  const place = () => {
    if (!button.current || !panel.current) return;
    const { left, right, bottom } = button.current.getBoundingClientRect();
    const { style } = panel.current;
    const inlineSize = Math.min(width, window.innerWidth - 2 * MARGIN);
    const start = getComputedStyle(button.current).direction === 'rtl' ? right - inlineSize : left;
    style.width = `${inlineSize}px`;
    style.left = `${Math.max(MARGIN, Math.min(start, window.innerWidth - inlineSize - MARGIN))}px`;
    style.top = `${bottom + 4}px`;
    style.maxHeight = `${window.innerHeight - bottom - 4 - MARGIN}px`;
  };
  return (
    <>
      <button
        ref={button}
        type="button"
        className={className}
        popoverTarget={id}
        aria-expanded={isOpen}
        aria-label={name}
        title={name ?? title}
      >
        {label}
      </button>
      {/* biome-ignore lint/a11y/useSemanticElements: a fieldset groups fields, and this is also a menu. */}
      <div
        ref={panel}
        id={id}
        popover="auto"
        role="group"
        aria-label={title}
        className="popover"
        onBeforeToggle={(event) => {
          if (event.newState !== 'open') return;
          place();
          setOpen(true);
        }}
        onToggle={(event) => event.newState === 'closed' && setOpen(false)}
      >
        {isOpen && children(() => panel.current?.hidePopover())}
      </div>
    </>
  );
}
