export { type PostmanRequest, postmanRequests } from './postman.ts';
export { type Prism, startPrism } from './prism.ts';
export { lintWithRedocly } from './redocly.ts';
export { spectralProblems } from './spectral.ts';
export { runTypedSender } from './typed-sender.ts';
