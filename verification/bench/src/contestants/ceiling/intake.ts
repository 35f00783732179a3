import { serveExpress } from '../express-intake.ts';

await serveExpress(
  async () => {},
  async () => {},
);
