/** The event package `message-summary` (RFC 3842): how many voice messages a mailbox has. */
import type { DomainName } from '../../domain-name/index.ts';
import type { Directory, SipUser } from '../../domain/index.ts';
import { isNamed, sipUserNamed } from '../../domain/index.ts';
import { plainUri } from '../../signalling/index.ts';
import type { EventPackage, ResourceState } from './event-package.ts';

export interface MailboxCounts {
  /** Messages that nobody has heard. */
  readonly fresh: number;
  readonly old: number;
}

/** Counts the messages in the mailbox of a sipuser. */
export type CountMessages = (domain: DomainName, number: string) => Promise<MailboxCounts>;

/** The body for a mailbox (RFC 3842 section 5.2). */
export function messageSummary({ domain, phonenumber }: SipUser, { fresh, old }: MailboxCounts): ResourceState {
  const text = [
    `Messages-Waiting: ${fresh > 0 ? 'yes' : 'no'}`,
    `Message-Account: ${plainUri(phonenumber, domain)}`,
    `Voice-Message: ${fresh}/${old} (0/0)`,
    '',
  ].join('\r\n');
  return { type: 'application/simple-message-summary', text: () => text };
}

/** Every sipuser may subscribe to its own mailbox: by its number, its login, or an address without a user part. */
export function messageSummaryPackage(directory: Directory, count: CountMessages): EventPackage {
  return {
    name: 'message-summary',
    type: 'application/simple-message-summary',
    defaultExpires: 3600,
    resource: (subscriber, target) => {
      if (target === '' || isNamed(subscriber, target))
        return { key: mailboxKey(subscriber.domain, subscriber.phonenumber) };
      return { refusal: sipUserNamed(directory, subscriber.domain, target) === undefined ? 404 : 403 };
    },
    state: async (subscriber) => messageSummary(subscriber, await count(subscriber.domain, subscriber.phonenumber)),
  };
}

/** Key of the resource. */
export function mailboxKey(domain: DomainName, number: string): string {
  return `${domain} ${number}`;
}
