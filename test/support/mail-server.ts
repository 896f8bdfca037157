/** An SMTP server on the loopback address. */
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { SMTPServer } from 'smtp-server';

export interface ReceivedMail {
  readonly from: string;
  readonly to: readonly string[];
  /** Header and body as they came. */
  readonly source: string;
}

/** `nobody@…` is refused, mail from `spam@…` too, and mail to `slow@…` is never answered. */
export async function openMailServer(): Promise<{
  readonly url: string;
  readonly mails: readonly ReceivedMail[];
  readonly close: () => Promise<void>;
}> {
  const mails: ReceivedMail[] = [];
  const refusal = (text: string): Error => Object.assign(new Error(text), { responseCode: 550 });
  const server = new SMTPServer({
    authOptional: true,
    disabledCommands: ['STARTTLS'],
    logger: false,
    onMailFrom: ({ address }, _session, done) => done(address.startsWith('spam@') ? refusal('No spam') : undefined),
    onRcptTo({ address }, _session, done) {
      if (!address.startsWith('slow@')) done(address.startsWith('nobody@') ? refusal('No such user') : undefined);
    },
    onData(stream, { envelope }, done) {
      const parts: Buffer[] = [];
      stream.on('data', (part: Buffer) => parts.push(part));
      stream.on('end', () => {
        const from = envelope.mailFrom === false ? '' : envelope.mailFrom.address;
        const to = envelope.rcptTo.map(({ address }) => address);
        mails.push({ from, to, source: Buffer.concat(parts).toString() });
        done();
      });
    },
  });
  const listening = server.listen(0, '127.0.0.1');
  await once(listening, 'listening');
  const { port } = listening.address() as AddressInfo;
  return {
    url: `smtp://127.0.0.1:${port}`,
    mails,
    close: () => new Promise((resolve) => server.close(() => resolve())),
  };
}
