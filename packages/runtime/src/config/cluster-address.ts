interface ClusterAddress {
  /** Nodes that know the others; one available node is enough. */
  seeds: { host: string; port: number }[];
  username: string;
  password: string;
  tls: boolean;
}

export const CLUSTER_SCHEME = /^redis(s?)-cluster:\/\//;

/**
 * Reads `redis-cluster://[user:password@]host:port,host:port`, with `rediss-cluster:` for TLS. User and password are percent-encoded; the
 * port defaults to 6379.
 *
 * @throws {Error} when the address is invalid. The message does not quote the address, which may contain a password.
 */
export function parseClusterAddress(address: string): ClusterAddress {
  const [, tls, credentials = ':', hosts] = /^redis(s?)-cluster:\/\/(?:([^@/,]*)@)?([^@/?#]+)\/?$/.exec(address) ?? [];
  if (!hosts) throw new Error('not the address of a cluster');
  const [username = '', password = ''] = credentials.split(/:(.*)/s, 2).map(decodeURIComponent);
  return { seeds: hosts.split(',').map(parseSeed), username, password, tls: tls === 's' };
}

function parseSeed(text: string): { host: string; port: number } {
  const { hostname, port } = URL.parse(`redis://${text}`) ?? {};
  if (!hostname) throw new Error('not a host and port');
  return { host: hostname.replace(/^\[(.*)\]$/, '$1'), port: Number(port || 6379) };
}
