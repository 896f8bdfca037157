/** Answers INVITEs of a killed process. */
import { randomUUID } from 'node:crypto';
import { connect } from 'node:net';
import type { SipServerAddress } from './server-address.ts';

/** An INVITE without a final answer: the data for answering it after a restart. */
export interface WaitingInvite {
  /** Transaction id in the SIP server. */
  readonly transaction: string;
  /** Name of the SIP server that received it. */
  readonly server?: string | undefined;
  readonly callId: string;
  readonly cseq: string;
  /** Milliseconds since the epoch. */
  readonly at: number;
}

/** Milliseconds for all answers together. */
const PATIENCE_MS = 5000;

/**
 * Refuses calls that an earlier process of this node left unanswered. A drachtio-server keeps their transactions, and
 * accepts an answer from any application that names them (seen with 0.9.10). The library answers only requests of its
 * own connection, so these messages use a separate one. An expired transaction yields NOK, which is fine.
 */
export async function refuseLeftWaiting(address: SipServerAddress, left: readonly WaitingInvite[]): Promise<void> {
  const { host, port, secret } = address;
  const socket = connect({ host, port });
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const late = setTimeout(() => reject(new Error(`no answer in ${PATIENCE_MS} ms`)), PATIENCE_MS);
  socket.on('connect', () => {
    socket.write(frame(`authenticate|${secret}|`));
    for (const invite of left) socket.write(frame(`sip|${invite.transaction}||\r\n${refusal(invite)}`));
  });
  let heard = '';
  socket.setEncoding('utf8').on('data', (text: string) => {
    heard += text;
    // Replies to the secret, and to each refusal.
    if (heard.split('|response|').length - 1 > left.length) resolve();
  });
  socket.on('error', reject);
  socket.on('close', () => reject(new Error('the SIP server closed the connection')));
  try {
    await promise;
  } finally {
    clearTimeout(late);
    socket.destroy();
  }
}

/** `LENGTH#ID|...`, the length in bytes excluding itself. */
function frame(command: string): string {
  const text = `${randomUUID()}|${command}`;
  return `${Buffer.byteLength(text)}#${text}`;
}

/** The server fills in the rest from the request. */
function refusal({ callId, cseq }: WaitingInvite): string {
  return `SIP/2.0 500 Server Internal Error\r\nCall-ID: ${callId}\r\nCSeq: ${cseq}\r\nContent-Length: 0\r\n\r\n`;
}
