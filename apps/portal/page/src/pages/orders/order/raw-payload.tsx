import { applyEdits, format, type Node, parseTree } from 'jsonc-parser';
import { type ReactNode, useId, useMemo, useState } from 'react';
import { useTranslation } from 'react-i18next';
import type { OrderDetail, Warning } from '../../../api/review.ts';
import { CopyButton } from '../../../components/button.tsx';
import { Segments } from '../../../components/segments.tsx';
import type { Editing } from '../edit/editing.ts';
import { focusElement, rawIdOf, useCrossHighlight, warningIdOf } from './cross-highlight.tsx';
import { findMember } from './find-member.ts';
import { factAt, TakeOver } from './take-over.tsx';

/** `delivery`: what a platform sent, and `mapped`: the payload that its mapping made of it. */
const FORMATS = { sent: ['indented', 'exact'], mapped: ['delivery', 'mapped'] } as const;
type Format = (typeof FORMATS)[keyof typeof FORMATS][number];

/**
 * What was received. In a payload, members with warnings are marked and linked to these; in the delivery of a platform, those that its mapping
 * does not read, and each can be taken over into the order.
 */
export function RawPayload(props: { text: string; detail: OrderDetail; editing: Editing }): ReactNode {
  const { text, detail, editing } = props;
  const { t } = useTranslation('review');
  const titleId = useId();
  const { warnings } = detail.order;
  const formats = detail.delivery ? FORMATS.mapped : FORMATS.sent;
  const [format, setFormat] = useState<Format>(formats[0]);
  const [chosen, choose] = useState<string | null>(null);
  const delivery = format === 'delivery' ? detail.delivery : null;
  const shown = delivery?.text ?? text;
  const parts = useMemo(
    () =>
      splitAtPointers(
        format === 'exact' ? shown : indent(shown),
        delivery?.unread ?? warnings.map(({ pointer }) => pointer),
      ),
    [shown, delivery, warnings, format],
  );
  return (
    <div className="raw">
      <header className="spread">
        <h3 id={titleId}>{t('raw.title')}</h3>
        <div className="row">
          <Segments
            label={t('raw.title')}
            hidesLabel
            options={formats.map((value) => ({ value, name: t(`raw.${value}`) }))}
            value={format}
            onChange={setFormat}
          />
          <CopyButton text={shown} />
        </div>
      </header>
      {delivery && delivery.unread.length > 0 && (
        <p className="hint">{t('raw.unread', { count: delivery.unread.length })}</p>
      )}
      {delivery && chosen !== null && (
        <TakeOver key={chosen} fact={factAt(delivery.text, chosen)} order={detail.order} editing={editing} />
      )}
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: scrollable content must be reachable by keyboard. */}
      <section className="raw-scroll" tabIndex={0} aria-labelledby={titleId}>
        <pre className="code">
          {parts.map(({ text: part, pointer }, index) =>
            pointer === null ? (
              withMarks(part)
            ) : delivery ? (
              // Not a button, which would not wrap with the text.
              <a
                // biome-ignore lint/suspicious/noArrayIndexKey: parts have no other identity and are always replaced together.
                key={index}
                id={rawIdOf(pointer)}
                href={`#${encodeURIComponent(rawIdOf(pointer))}`}
                className="raw-unread"
                aria-current={chosen === pointer}
                onClick={(event) => {
                  event.preventDefault();
                  choose(pointer);
                }}
              >
                {withMarks(part)}
              </a>
            ) : (
              // biome-ignore lint/suspicious/noArrayIndexKey: as above.
              <MarkedMember key={index} pointer={pointer} text={withMarks(part)} warnings={warnings} />
            ),
          )}
        </pre>
      </section>
    </div>
  );
}

function MarkedMember(props: { pointer: string; text: string; warnings: Warning[] }): ReactNode {
  const { pointer, text, warnings } = props;
  const { isHighlighted, handlers } = useCrossHighlight(pointer);
  const isCheck = warnings.some((warning) => warning.pointer === pointer && warning.severity === 'check');
  return (
    <a
      id={rawIdOf(pointer)}
      href={`#${encodeURIComponent(warningIdOf(pointer))}`}
      className={`raw-mark${isCheck ? ' is-check' : ''}${isHighlighted ? ' is-pointed' : ''}`}
      onClick={(event) => {
        event.preventDefault();
        focusElement(warningIdOf(pointer));
      }}
      {...handlers}
    >
      {text}
    </a>
  );
}

/** A part of the raw payload; `pointer` is set for a member with a warning. */
interface PayloadPart {
  text: string;
  pointer: string | null;
}

/** Shows marks of direction by their escapes: they would put what follows in another order. */
const withMarks = (text: string) =>
  text.replace(
    /[\u200e\u200f\u061c\u202a-\u202e\u2066-\u2069]/g,
    (mark) => `\\u${mark.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );

/** Pretty-prints JSON. Only whitespace changes: numbers and strings keep their spelling. */
function indent(text: string): string {
  const json = text.replace(/^\uFEFF/, '');
  return applyEdits(json, format(json, undefined, { tabSize: 2, insertSpaces: true, eol: '\n' }));
}

/** Splits the raw payload at the members that `pointers` (RFC 6901) name. Pointers without a member are ignored. */
function splitAtPointers(text: string, pointers: Iterable<string>): PayloadPart[] {
  // A byte order mark is not JSON; a space in its place keeps the offsets.
  const tree = parseTree(text.replace(/^\uFEFF/, ' '));
  const marks = [...new Set(pointers)].flatMap((pointer) => {
    const node = tree && pointer !== '' ? findMember(tree, pointer) : undefined;
    return node ? [{ pointer, ...rangeOf(node) }] : [];
  });
  marks.sort((a, b) => a.from - b.from);
  const parts: PayloadPart[] = [];
  let at = 0;
  for (const { pointer, from, to } of marks) {
    if (from < at) continue;
    parts.push({ text: text.slice(at, from), pointer: null }, { text: text.slice(from, to), pointer });
    at = to;
  }
  return [...parts, { text: text.slice(at), pointer: null }].filter((stretch) => stretch.text !== '');
}

/** The range of a member with its value. For objects and arrays only the name or the opening bracket, so that ranges never overlap. */
function rangeOf(node: Node): { from: number; to: number } {
  const [name, value] = node.type === 'property' ? (node.children ?? []) : [undefined, node];
  const from = node.offset;
  if (value?.type === 'object' || value?.type === 'array')
    return { from, to: name ? name.offset + name.length : from + 1 };
  return { from, to: node.offset + node.length };
}
