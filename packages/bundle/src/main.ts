import { bundleApps } from './bundle-apps.ts';

await bundleApps();
