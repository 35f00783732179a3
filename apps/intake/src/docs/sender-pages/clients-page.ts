import type { DocPage } from '@orders/doc-pages/read-pages.ts';
import { VERSION } from '@orders/runtime/version.ts';
import { CLIENT_NAMES, type ClientName, PACKED, readClient } from './client-files.ts';

const COUNT = new Intl.NumberFormat('en');
const URL_OF_FILES = '$ORDERS_URL/docs/senders/clients';

/** The name of a file with its version, if npm gets it by its address: a lock file has the digest of what is there. */
export const nameWithVersion = (name: ClientName) => (name === PACKED ? `orders-client-${VERSION}.tgz` : name);

const LANGUAGES: Record<ClientName, string> = {
  'orders.py': 'Python 3.9 and newer',
  'orders.php': 'PHP 8.1 and newer',
  'orders-client.tgz': 'Node 20 and newer, and the command `orders`',
};

/** The page about the files of this version, with their sizes and digests. @param at the path of the pages. */
export function clientsPage(at: string): DocPage {
  const files = CLIENT_NAMES.flatMap((name) => {
    const file = readClient(name);
    return file ? { name: nameWithVersion(name), of: LANGUAGES[name], ...file } : [];
  });
  const rows = files.map(
    ({ name, of, bytes, sha256 }) =>
      `| [${name}](${at}/clients/${name}) | ${of} | ${COUNT.format(bytes.length)} | \`${sha256.toString('hex')}\` |`,
  );
  const lines = files.map(({ name }) =>
    name.endsWith('.tgz') ? `npm install "${URL_OF_FILES}/${name}"` : `curl -sSfO "${URL_OF_FILES}/${name}"`,
  );
  const markdown = `# Files of the clients

Version ${VERSION}, as this service runs. [The clients](sdk.md) describes them. [SHA256SUMS](${at}/clients/SHA256SUMS) has
the checksums for \`sha256sum -c\`.

| File | For | Bytes | SHA-256 |
| --- | --- | ---: | --- |
${rows.join('\n')}

## Install

\`\`\`shell
${lines.join('\n')}
\`\`\`

\`${PACKED}\` is the same file without its version: what this service has after an update, too. The name with the version
is for a lock file of npm, and is there as long as the service runs that version. To depend on neither, keep the file in
your project and install that.
`;
  return { name: 'clients', title: 'Files of the clients', markdown };
}
