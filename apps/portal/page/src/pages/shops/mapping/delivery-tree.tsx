import type { KeyboardEvent, ReactNode } from 'react';
import { useTranslation } from 'react-i18next';

/** More elements of a list, and members of an object, are not shown. */
const MAX_ELEMENTS = 5;
const MAX_MEMBERS = 200;
const MAX_TEXT = 200;
/** The service reads nothing that is nested deeper. */
const MAX_DEPTH = 64;

/** A delivery parsed for the tree; long numbers stay exact, as texts. Undefined if it is no JSON. */
export function parseTree(text: string): unknown {
  try {
    return JSON.parse(text, keepLongNumbers as (name: string, value: unknown) => unknown);
  } catch {
    return undefined;
  }
}

/** Every decimal number of this many digits is exact. */
const EXACT_DIGITS = 15;

function keepLongNumbers(_name: string, value: unknown, { source = '' }: { source?: string } = {}): unknown {
  return typeof value === 'number' && source.replace(/[eE].*|\D/g, '').length > EXACT_DIGITS ? source : value;
}

interface TreeProps {
  value: unknown;
  pointer: string;
  depth: number;
  onPick: (pointer: string) => void;
}

/** A delivery whose values can be picked, by a click or with the arrow keys and Enter. */
export function DeliveryTree(props: { document: unknown; onPick: (pointer: string) => void }): ReactNode {
  const { document, onPick } = props;
  const { t } = useTranslation('sources');
  return (
    // biome-ignore lint/a11y/useSemanticElements: a fieldset groups fields of a form, and these are values to pick.
    <div className="code delivery-tree" dir="ltr" role="group" aria-label={t('delivery.values')} onKeyDown={moveFocus}>
      <Node value={document} pointer="" depth={1} onPick={onPick} />
    </div>
  );
}

/** Arrow keys move between the values. Only one of them is in the tab order. */
function moveFocus(event: KeyboardEvent<HTMLDivElement>): void {
  const buttons = [...event.currentTarget.querySelectorAll('button')];
  const index = buttons.indexOf(event.target as HTMLButtonElement);
  const steps: Record<string, number> = { ArrowDown: index + 1, ArrowUp: index - 1, Home: 0, End: buttons.length - 1 };
  const next = buttons[steps[event.key] ?? -1];
  if (!next) return;
  event.preventDefault();
  for (const button of buttons) button.tabIndex = -1;
  next.tabIndex = 0;
  next.focus();
}

function Node(props: TreeProps): ReactNode {
  const { value, pointer, depth } = props;
  if (depth > MAX_DEPTH) return '…';
  if (typeof value !== 'object' || value === null) return <Leaf {...props} />;
  const isList = Array.isArray(value);
  const all = Object.entries(value);
  const shown = all.slice(0, isList ? MAX_ELEMENTS : MAX_MEMBERS);
  const [start, end] = isList ? ['[', ']'] : ['{', '}'];
  if (all.length === 0) return `${start}${end}`;
  return (
    <>
      {start}
      {shown.map(([name, member]) => (
        <div key={name} className="tree-member">
          {!isList && <span className="hint">{JSON.stringify(name)}: </span>}
          <Node
            {...props}
            depth={depth + 1}
            value={member}
            pointer={`${pointer}/${name.replaceAll('~', '~0').replaceAll('/', '~1')}`}
          />
        </div>
      ))}
      {all.length > shown.length && <MoreElements count={all.length - shown.length} />}
      {end}
    </>
  );
}

function MoreElements({ count }: { count: number }): ReactNode {
  const { t } = useTranslation('sources');
  return <div className="tree-member hint">{t('delivery.more', { count })}</div>;
}

function Leaf({ value, pointer, onPick }: TreeProps): ReactNode {
  const text = JSON.stringify(value);
  const shown = text.length > MAX_TEXT ? `${text.slice(0, MAX_TEXT)}…` : text;
  return (
    <button
      type="button"
      className="tree-value"
      title={pointer}
      aria-label={`${pointer}: ${shown}`}
      // A click leaves the focus in the field that takes the pointer.
      onMouseDown={(event) => event.preventDefault()}
      onClick={() => onPick(pointer)}
    >
      {shown}
    </button>
  );
}
