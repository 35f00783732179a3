import { type ReactNode, useId, useMemo, useState } from 'react';
import { useTranslation } from 'react-i18next';
import type { Warning } from '../../api/review.ts';
import { CopyButton } from '../../components/copy-button.tsx';
import { Segments } from '../../components/segments.tsx';
import { focusElement, rawIdOf, useCrossHighlight, warningIdOf } from './cross-highlight.tsx';
import { indent, splitAtPointers } from './split-payload.ts';

const FORMATS = ['indented', 'exact'] as const;
type Format = (typeof FORMATS)[number];

/** The payload as received; members with warnings are marked and linked to these. */
export function RawPayload({ text, warnings }: { text: string; warnings: Warning[] }): ReactNode {
  const { t } = useTranslation('review');
  const titleId = useId();
  const [format, setFormat] = useState<Format>('indented');
  const parts = useMemo(
    () =>
      splitAtPointers(
        format === 'indented' ? indent(text) : text,
        warnings.map(({ pointer }) => pointer),
      ),
    [text, warnings, format],
  );
  return (
    <div className="raw">
      <header className="spread">
        <h3 id={titleId}>{t('raw.title')}</h3>
        <div className="row">
          <Segments
            label={t('raw.title')}
            hidesLabel
            options={FORMATS.map((value) => ({ value, name: t(`raw.${value}`) }))}
            value={format}
            onChange={setFormat}
          />
          <CopyButton text={text} />
        </div>
      </header>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: scrollable content must be reachable by keyboard. */}
      <section className="raw-scroll" tabIndex={0} aria-labelledby={titleId}>
        <pre className="code">
          {parts.map(({ text: part, pointer }, index) =>
            // biome-ignore lint/suspicious/noArrayIndexKey: parts have no other identity and are always replaced together.
            pointer === null ? part : <MarkedMember key={index} pointer={pointer} text={part} warnings={warnings} />,
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
