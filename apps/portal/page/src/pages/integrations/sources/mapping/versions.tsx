import type { ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import type { Version } from '../../../../api/sources.ts';
import { Actor } from '../../../../components/actor.tsx';
import { Popover } from '../../../../components/popover.tsx';
import { Ago } from '../../../../components/time.tsx';

/** The versions of a mapping, newest first; one can be put into the editor. */
export function Versions(props: { versions: Version[]; onRestore: (version: Version) => void }): ReactNode {
  const { t } = useTranslation('sources');
  return (
    <Popover label={t('version.title', { count: props.versions.length })} title={t('version.list')}>
      {(close) => (
        <ol className="plain stack-tight version-list">
          {props.versions.map((version, index) => (
            <li key={version.version} className="spread">
              <span>
                {t('version.name', { id: version.version })}
                <span className="hint">
                  {' '}
                  <Ago at={version.created_at} /> · <Actor actor={version.created_by} />
                </span>
              </span>
              {index === 0 ? (
                <span className="badge badge-good">{t('version.current')}</span>
              ) : (
                <button
                  type="button"
                  className="button"
                  aria-label={t('version.restoreNumber', { id: version.version })}
                  onClick={() => {
                    close();
                    props.onRestore(version);
                  }}
                >
                  {t('version.restore')}
                </button>
              )}
            </li>
          ))}
        </ol>
      )}
    </Popover>
  );
}
