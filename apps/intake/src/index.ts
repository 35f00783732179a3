export { type IntakeConfig, readConfig } from './config.ts';
export { createIntake, type Intake } from './create-intake.ts';
export { readSenderPages, type SenderPage } from './docs/sender-pages/read-pages.ts';
export { anchorOf } from './docs/sender-pages/render-page.ts';
