export { type IntakeConfig, readConfig } from './config.ts';
export { createIntake, type Intake } from './create-intake.ts';
export { readSenderPages } from './docs/sender-pages/read-pages.ts';
