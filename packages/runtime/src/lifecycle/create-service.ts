import { once } from 'node:events';
import type { RequestListener, Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { ConfigurationError } from '../config/environment.ts';
import type { ProcessEnvironment } from '../config/settings.ts';
import type { Logger } from '../observability/logger.ts';
import { exposeBuildInfo, type Registry } from '../observability/metrics.ts';
import type { Tracing } from '../observability/span.ts';
import { VERSION } from '../version.ts';
import { closeAdminServer, createAdminServer, type Readiness } from './admin-server.ts';
import { oneAtATime } from './bound-pipelining.ts';
import { createGracefulShutdown } from './graceful-shutdown.ts';

/** An app: `start` resolves when it serves, `close` when all work in progress is done. */
export interface Service {
  /** The ports it listens on; 0 before `start`, and `port` for an app without a server. */
  readonly port: number;
  readonly adminPort: number;
  start(): Promise<void>;
  close(): Promise<void>;
}

/** Writes a warning that names what the app waits for. */
type Warn = (message: string, fields: object) => void;

/** The parts of an app, in the order of its life. */
interface Parts {
  name: string;
  config: Pick<ProcessEnvironment, 'ADMIN_HOST' | 'ADMIN_PORT' | 'ADMIN_TOKEN' | 'REVISION' | 'DRAIN_TIMEOUT'>;
  logger: Logger;
  registry: Registry;
  tracing?: Tracing | null;
  /** What serves requests. `DRAIN_DELAY`: how long it goes on while it already reports that it is not ready. */
  http?: {
    server: Server;
    handle: RequestListener;
    config: { HOST: string; PORT: number; DRAIN_DELAY: number };
    /** Ends requests that wait for something, once nobody should send more. */
    release?: () => void;
  };
  /** Body of `GET /health/ready`. */
  readiness(isDraining: () => boolean): Promise<Readiness>;
  /** Called when all ports are open. `start` waits for it, but not once it warned. */
  begin(stopping: AbortSignal, warn: Warn): Promise<void> | undefined;
  /** Ends all work, and then closes what the app opened. */
  end(): Promise<void>;
}

/** The share of `DRAIN_TIMEOUT` for requests in progress; the rest is for what `end` closes, and for traces. */
export const DRAIN_SHARE = 0.8;
const TRACES_SHARE = 0.1;

/** Starts and closes an app as every app does; nothing connects or listens before `start`. */
export function createService(parts: Parts): Service {
  const { name, config, logger, registry, tracing, http } = parts;
  const stopping = new AbortController();
  const isDraining = () => stopping.signal.aborted;
  exposeBuildInfo(registry, config.REVISION);
  const shutdown = http && createGracefulShutdown(http.server);
  http?.server.on('request', oneAtATime(http.handle));
  const admin = createAdminServer(() => parts.readiness(isDraining), registry, logger, config.ADMIN_TOKEN);
  let [port, adminPort] = [0, 0];
  let begun: Promise<void> | undefined;

  return {
    get port() {
      return port;
    },
    get adminPort() {
      return adminPort;
    },
    async start() {
      await tracing?.start();
      // The admin port opens last, so readiness is never reported before the service listens.
      if (http) port = await listen(http.server, http.config.HOST, http.config.PORT);
      adminPort = await listen(admin, config.ADMIN_HOST, config.ADMIN_PORT);
      const facts = { admin_port: adminPort, version: VERSION, revision: config.REVISION };
      if (http) logger.info(`${name} ready`, { port, ...facts });
      else logger.info(`${name} starting`, facts);
      const waits = Promise.withResolvers<void>();
      begun = parts.begin(stopping.signal, (message, fields) => {
        logger.warn(message, fields);
        waits.resolve();
      });
      await Promise.race([begun, waits.promise]);
    },
    async close() {
      stopping.abort();
      await begun;
      await shutdown?.announce(http?.config.DRAIN_DELAY ?? 0);
      http?.release?.();
      await shutdown?.drain(config.DRAIN_TIMEOUT * DRAIN_SHARE);
      await parts.end();
      await tracing?.close(config.DRAIN_TIMEOUT * TRACES_SHARE);
      await closeAdminServer(admin);
    },
  };
}

/**
 * Listens on `host:port` and returns the port; 0 means any free port.
 *
 * @throws {ConfigurationError} with one line that says why it cannot listen.
 */
async function listen(server: Server, host: string, port: number): Promise<number> {
  server.listen(port, host);
  await once(server, 'listening').catch((error: NodeJS.ErrnoException) => {
    const reason = error.code === 'EADDRINUSE' ? 'it is taken' : error.code;
    throw new ConfigurationError(`Configuration: cannot listen on ${host}:${port}, ${reason}.`);
  });
  return (server.address() as AddressInfo).port;
}
