/** Signatures of deliveries (Standard Webhooks 1.0, "Signature scheme"). */
import { createHmac } from 'node:crypto';

const PREFIX = 'whsec_';

export interface SignedContent {
  /** Of the delivery, without a dot. */
  readonly id: string;
  /** Time of the attempt, in seconds since the epoch. */
  readonly seconds: number;
  /** The bytes of the request's body. */
  readonly body: string;
}

/**
 * The header `webhook-signature`: a signature by each secret, so that a receiver may know the former or the new one.
 *
 * @param secrets `whsec_` and base64
 */
export function signatureOf({ id, seconds, body }: SignedContent, secrets: readonly string[]): string {
  const content = `${id}.${seconds}.${body}`;
  return secrets
    .map((secret) => {
      const key = Buffer.from(secret.slice(PREFIX.length), 'base64');
      return `v1,${createHmac('sha256', key).update(content).digest('base64')}`;
    })
    .join(' ');
}
