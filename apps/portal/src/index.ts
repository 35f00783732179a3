export { type PortalConfig, readConfig } from './config.ts';
export { createPortal, type Portal } from './create-portal.ts';
export { readHelpPages } from './help/help-pages.ts';
