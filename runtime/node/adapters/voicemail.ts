/** Voice messages as scenarios use them. */
import type { DomainName } from '../../domain-name/index.ts';
import { type Directory, type LiveDirectory, sipUserNamed } from '../../domain/index.ts';
import type { Prompts } from '../../prompts/index.ts';
import { newFirst, unavailable, type VoicemailPort } from '../../runs/index.ts';
import { FileStoreError, StorageError } from '../../storage/index.ts';
import type { Switch } from '../../switch/index.ts';
import { MailboxFullError, type VoiceMessageRow, type VoiceMessages } from '../../voicemail/index.ts';

/** The name under which a mailbox is kept: the number of a sipuser, also for its login. */
export function mailboxNamed(directory: Directory, domain: DomainName, name: string): string {
  return sipUserNamed(directory, domain, name)?.phonenumber ?? name;
}

/** Lights message lamps: tells the switch of changed mailboxes. */
export function followMessages(
  messages: Pick<VoiceMessages, 'onChange'>,
  directory: Pick<LiveDirectory, 'domainById'>,
  lamps: Pick<Switch, 'messagesChanged' | 'allMessagesChanged'>,
): void {
  messages.onChange((domainId, mailbox) => {
    const domain = directory.domainById(domainId)?.name;
    if (domainId === '') lamps.allMessagesChanged();
    else if (domain !== undefined) lamps.messagesChanged(domain, mailbox);
  });
}

/** @param sounds makes files of the file store playable */
export function voicemailPort(
  messages: VoiceMessages,
  directory: Directory,
  sounds: Pick<Prompts, 'wavOf'>,
): VoicemailPort {
  const place = (domain: DomainName, name: string): Pick<VoiceMessageRow, 'domain_id' | 'mailbox'> => ({
    domain_id: directory.domain(domain)?.id ?? '',
    mailbox: mailboxNamed(directory, domain, name),
  });
  /** The message, if it is in that mailbox. */
  const find = async (domain: DomainName, name: string, id: string): Promise<VoiceMessageRow | undefined> => {
    const { domain_id: domainId, mailbox } = place(domain, name);
    const row = await messages.read(id);
    return row?.domain_id === domainId && row.mailbox === mailbox ? row : undefined;
  };
  return {
    deposit: (domain, name, { number, name: caller, file, milliseconds }) =>
      kept(async () => {
        try {
          const message = { ...place(domain, name), number, name: caller, milliseconds };
          return (await messages.deposit(message, file)).id;
        } catch (error) {
          if (error instanceof MailboxFullError) return undefined;
          throw error;
        }
      }),
    list: (domain, name) =>
      kept(async () => {
        const { domain_id: domainId, mailbox } = place(domain, name);
        const rows = await messages.list([domainId], mailbox);
        return newFirst(rows.map((row) => ({ ...row, heard: row.heard > 0 })));
      }),
    mark: (domain, name, id, heard) =>
      kept(async () => {
        const row = await find(domain, name, id);
        return row !== undefined && (await messages.mark(row, heard));
      }),
    remove: (domain, name, id) =>
      kept(async () => (await find(domain, name, id)) !== undefined && (await messages.remove(id))),
    sound: (domain, id) =>
      kept(async () => {
        const row = await messages.read(id);
        if (row === undefined || row.domain_id !== directory.domain(domain)?.id) return undefined;
        return sounds.wavOf({ wav_hasha: row.hasha });
      }),
  };
}

/** @throws ScenarioError code `unavailable` while the database or the file store is away */
async function kept<Result>(work: () => Promise<Result>): Promise<Result> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof StorageError || error instanceof FileStoreError) throw unavailable(error.message);
    throw error;
  }
}
