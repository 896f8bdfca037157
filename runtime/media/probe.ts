/** Checks access to an event socket. */
import { connect } from 'node:net';
import { MediaAccessRefused, MediaLinkError } from './link-error.ts';

/**
 * Checks that an event socket accepts the password, and disconnects. Needed because drachtio-fsmrf never settles after
 * a refusal and continues with a failed connection.
 * @throws MediaAccessRefused, or another MediaLinkError with the reason
 */
export async function probeEventSocket(
  { host, port, password }: { readonly host: string; readonly port: number; readonly password: string },
  timeoutMs: number,
): Promise<void> {
  const where = `the media server at ${host}:${port}`;
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const socket = connect({ host, port });
  let heard = '';
  let asked = false;
  socket.setEncoding('utf8');
  socket.setTimeout(timeoutMs, () => reject(new MediaLinkError(`${where} did not answer in ${timeoutMs} ms`)));
  socket.on('data', (text: string) => {
    heard += text;
    if (heard.includes('text/rude-rejection'))
      reject(
        new MediaAccessRefused(`${where} refuses connections from here; its ACL 'node' must have this node's address`),
      );
    else if (!asked && heard.includes('auth/request')) {
      asked = true;
      socket.write(`auth ${password}\n\n`);
    } else if (heard.includes('Reply-Text: +OK')) resolve();
    else if (heard.includes('Reply-Text: -ERR'))
      reject(
        new MediaAccessRefused(
          `${where} refused the password; RINGMASTER_FREESWITCH must have the one of its event_socket.conf.xml`,
        ),
      );
  });
  socket.on('error', (cause) => reject(new MediaLinkError(`${where} cannot be reached: ${cause.message}`, { cause })));
  socket.on('close', () => reject(new MediaLinkError(`${where} closed the connection`)));
  try {
    await promise;
  } finally {
    socket.destroy();
  }
}
