import { GenericContainer, Wait } from 'testcontainers';

/** The same images as in docker-compose.yml. `TEST_POSTGRES_IMAGE` and `TEST_REDIS_IMAGE` replace them, to test other versions. */
export const IMAGES = { postgres: 'postgres:18', redis: 'redis:8' };

/** A service in a container, which is removed when this process ends at the latest. */
export interface ContainerService {
  url: string;
  stop(): Promise<void>;
}

/**
 * Starts a Redis with an append-only file, on a free port.
 *
 * @param settings arguments of `redis-server`.
 * @throws {Error} if it cannot be started.
 */
export async function startRedisContainer(...settings: string[]): Promise<ContainerService> {
  const container = await new GenericContainer(process.env.TEST_REDIS_IMAGE ?? IMAGES.redis)
    .withCommand([
      'redis-server',
      '--appendonly',
      'yes',
      '--maxmemory-policy',
      'noeviction',
      '--protected-mode',
      'no',
      ...settings,
    ])
    .withExposedPorts(6379)
    .withWaitStrategy(Wait.forLogMessage(/Ready to accept connections/))
    .start();
  return {
    url: `redis://${container.getHost()}:${container.getMappedPort(6379)}`,
    stop: async () => void (await container.stop()),
  };
}

/**
 * Starts a Postgres for tests, on a free port. Without fsync, commits can be lost in a crash.
 *
 * @param password of the superuser `orders`, who owns the database `orders`.
 * @throws {Error} if it cannot be started.
 */
export async function startPostgresContainer(password: string): Promise<ContainerService> {
  const container = await new GenericContainer(process.env.TEST_POSTGRES_IMAGE ?? IMAGES.postgres)
    .withEnvironment({ POSTGRES_USER: 'orders', POSTGRES_PASSWORD: password, POSTGRES_DB: 'orders' })
    .withCommand(['postgres', '-c', 'max_connections=200', '-c', 'fsync=off'])
    .withExposedPorts(5432)
    // The image starts a first server to initialize, then the real one.
    .withWaitStrategy(Wait.forLogMessage(/database system is ready to accept connections/, 2))
    .start();
  return {
    url: `postgres://orders:${password}@${container.getHost()}:${container.getMappedPort(5432)}/orders`,
    stop: async () => void (await container.stop()),
  };
}
