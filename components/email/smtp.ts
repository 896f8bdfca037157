/** Sends e-mail by the operator's SMTP server (RFC 5321). */
import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { Socket } from 'node:net';
import type { Mail, MailPort, MailResult } from '../../runtime/runs/index.ts';
import { ScenarioError } from '../../runtime/language/index.ts';

/** Mails that are sent at once: each has a connection of its own. */
const AT_ONCE = 20;
/** Bytes of all attachments of a mail. */
const MAX_ATTACHED = 20 * 1024 * 1024;

export interface SmtpServer {
  /** `smtp://user:password@host:587`, or `smtps://` for TLS from the beginning. */
  readonly url: string;
  /** Address of the sender. */
  readonly from: string;
}

export class SmtpMailer implements MailPort {
  readonly #server: SmtpServer | undefined;
  #sending = 0;

  /** @param server undefined: there is none, and every mail fails with `unavailable` */
  constructor(server: SmtpServer | undefined) {
    this.#server = server;
  }

  async send(mail: Mail, signal: AbortSignal): Promise<MailResult> {
    const server = this.#server;
    if (server === undefined)
      throw new ScenarioError('unavailable', 'this node has no mail server: RINGMASTER_SMTP_URL');
    if (this.#sending >= AT_ONCE)
      throw new ScenarioError('mail_failed', `not sent: ${AT_ONCE} other mails are being sent`);
    this.#sending += 1;
    try {
      await checkSize(mail);
      return await this.#hand(mail, server, signal);
    } finally {
      this.#sending -= 1;
    }
  }

  async #hand({ to, subject, text, attachments }: Mail, server: SmtpServer, signal: AbortSignal): Promise<MailResult> {
    // With the first mail, so that a start does not wait for its 39 modules.
    const { createTransport } = await import('nodemailer');
    signal.throwIfAborted();
    // A socket of our own, because the library's attempt cannot be ended otherwise.
    const socket = new Socket();
    const end = (): void => void socket.destroy(new Error('the time is up'));
    signal.addEventListener('abort', end, { once: true });
    try {
      const transport = createTransport({
        url: server.url,
        socket,
        requireTLS: needsTls(server.url),
        disableFileAccess: true,
        disableUrlAccess: true,
      });
      const { messageId, accepted, rejected } = await transport.sendMail({
        from: server.from,
        to: [...to],
        subject,
        text,
        attachments: attachments.map(({ name, file }) => ({ filename: name, content: createReadStream(file) })),
      });
      return { id: messageId, accepted: accepted.map(addressOf), refused: rejected.map(addressOf) };
    } catch (error) {
      signal.throwIfAborted();
      throw failureOf(error);
    } finally {
      signal.removeEventListener('abort', end);
      socket.destroy();
    }
  }
}

/** @throws ScenarioError code `mail_too_large` */
async function checkSize({ attachments }: Mail): Promise<void> {
  const sizes = await Promise.all(attachments.map(async ({ file }) => (await stat(file)).size));
  const all = sizes.reduce((sum, size) => sum + size, 0);
  if (all > MAX_ATTACHED)
    throw new ScenarioError('mail_too_large', `${all} bytes are attached; at most ${MAX_ATTACHED} are sent`);
}

/** A password is not sent in the clear, except on this machine. */
function needsTls(url: string): boolean {
  const { username, hostname } = new URL(url);
  return username !== '' && !['localhost', '127.0.0.1', '[::1]'].includes(hostname);
}

function addressOf(recipient: string | { readonly address: string }): string {
  return typeof recipient === 'string' ? recipient : recipient.address;
}

/** A 5yz reply is a refusal for good (RFC 5321 section 4.2.1), but for one of the node's own password (RFC 4954). */
function failureOf(error: unknown): ScenarioError {
  const { message, responseCode, code } = error as Error & { readonly responseCode?: number; readonly code?: string };
  const refused = responseCode !== undefined && responseCode >= 500 && code !== 'EAUTH';
  return new ScenarioError(refused ? 'mail_refused' : 'mail_failed', `not sent: ${message}`);
}
