export { type IntakeConfig, readConfig } from './config.ts';
export { createIntake, type Intake } from './create-intake.ts';
export { readSenderPages, type SenderPage } from './sender-pages/read-pages.ts';
export { anchorOf } from './sender-pages/render-page.ts';
