import { execFileSync } from 'node:child_process';
import { chown, mkdtemp, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort } from '@orders/test-services/ports.ts';
import { startPostgres } from '@orders/test-services/postgres.ts';
import { startRedis } from '@orders/test-services/redis.ts';
import { closeAtEnd } from './close-at-end.ts';

/** A Postgres and a Redis whose certificates a private CA has signed, for the name `localhost` and not for `127.0.0.1`. */
export interface TlsStores {
  /** The CA's certificate. */
  ca: string;
  /** Without `sslmode`. The server refuses connections without TLS. */
  postgresUrl: string;
  redisUrl: string;
  close(): Promise<void>;
}

export async function startTlsStores(): Promise<TlsStores> {
  const directory = await mkdtemp(join(tmpdir(), 'orders-tls-'));
  const data = join(directory, 'postgres');
  const file = (name: string) => join(directory, name);
  await makeCertificates(file);
  const made = await startPostgres({ directory: data, password: 'orders' });
  await made.stop();
  // Postgres requires that its own user owns the key.
  const owner = await stat(data);
  await chown(directory, owner.uid, owner.gid);
  await chown(file('server.key'), owner.uid, owner.gid);
  await writeFile(join(data, 'pg_hba.conf'), 'hostssl all all 127.0.0.1/32 scram-sha-256\n');
  const ssl = ['ssl=on', `ssl_cert_file=${file('server.crt')}`, `ssl_key_file=${file('server.key')}`, 'fsync=off'];
  const postgres = await startPostgres({ directory: data, password: 'orders', settings: ssl });
  const port = await freePort();
  const redis = await startRedis({
    directory: file('redis'),
    settings: {
      'tls-port': port,
      'tls-cert-file': file('server.crt'),
      'tls-key-file': file('server.key'),
      'tls-ca-cert-file': file('ca.crt'),
      'tls-auth-clients': 'no',
    },
  });
  return closeAtEnd<TlsStores>({
    ca: file('ca.crt'),
    postgresUrl: postgres.url.replace('127.0.0.1', 'localhost').replace(/\/orders$/, '/postgres'),
    redisUrl: `rediss://localhost:${port}`,
    async close() {
      await redis.child.stop();
      await postgres.stop('SIGQUIT');
      await rm(directory, { recursive: true });
    },
  });
}

/** Makes a private CA and a certificate of it for `localhost`. @param file returns the path of a file: `ca.crt`, `server.crt`, `server.key`. */
export async function makeCertificates(file: (name: string) => string): Promise<void> {
  const openssl = (...args: string[]) => execFileSync('openssl', args, { stdio: 'pipe' });
  const key = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes'];
  openssl('req', '-x509', ...key, '-keyout', file('ca.key'), '-out', file('ca.crt'), '-subj', '/CN=private CA');
  openssl('req', ...key, '-keyout', file('server.key'), '-out', file('server.csr'), '-subj', '/CN=localhost');
  await writeFile(file('names'), 'subjectAltName=DNS:localhost');
  const signed = ['-CA', file('ca.crt'), '-CAkey', file('ca.key'), '-extfile', file('names'), '-days', '2'];
  openssl('x509', '-req', '-in', file('server.csr'), '-out', file('server.crt'), '-CAcreateserial', ...signed);
}
