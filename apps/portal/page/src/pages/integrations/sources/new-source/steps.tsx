import type { ReactNode } from 'react';
import { useTranslation } from 'react-i18next';

const STEPS = ['platform', 'connect', 'test'] as const;
export type Step = (typeof STEPS)[number];

/** The steps of the wizard, with the current one. */
export function Steps({ current }: { current: Step }): ReactNode {
  const { t } = useTranslation('sources');
  return (
    <ol className="plain row source-steps">
      {STEPS.map((step, index) => (
        <li key={step} aria-current={step === current ? 'step' : undefined}>
          <span className="badge">{index + 1}</span> {t(`step.${step}`)}
        </li>
      ))}
    </ol>
  );
}
