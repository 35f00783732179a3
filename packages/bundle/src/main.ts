import { bundleApps } from './bundle-apps.ts';
import { packServedClient } from './pack-client.ts';

await bundleApps();
await packServedClient();
