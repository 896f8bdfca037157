/** E-mail of scenarios. */

export interface Mail {
  /** Addresses without names, one at least. */
  readonly to: readonly string[];
  readonly subject: string;
  readonly text: string;
  /** Files of this machine. */
  readonly attachments: readonly { readonly name: string; readonly file: string }[];
}

export interface MailResult {
  /** The Message-ID (RFC 5322 section 3.6.4). */
  readonly id: string;
  /** Addresses that the server took, and those that it refused. */
  readonly accepted: readonly string[];
  readonly refused: readonly string[];
}

export interface MailPort {
  /**
   * Hands a mail to the mail server, once: nothing is tried again.
   * @param signal ends the attempt; the server may have taken the mail already
   * @throws ScenarioError codes `unavailable` (no mail server), `mail_refused` (no recipient is accepted, or not the mail),
   * `mail_failed`, `mail_too_large`; the signal's reason
   */
  send(mail: Mail, signal: AbortSignal): Promise<MailResult>;
}
