import type { Server } from 'node:http';

/** Calls `report` with a message about input that is not HTTP. */
export function reportInvalidHttp(server: Server, report: (message: string) => void): void {
  server.on('clientError', (error: NodeJS.ErrnoException & { rawPacket?: Buffer }) => {
    // A TLS handshake record.
    if (error.rawPacket?.[0] === 0x16)
      report('Received TLS, but this listener expects plain HTTP: send to http://, not https://.');
    else if (error.code?.startsWith('HPE_')) report('Received data that is not HTTP.');
  });
}
