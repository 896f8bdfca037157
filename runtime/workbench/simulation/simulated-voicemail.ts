/** The mailboxes of a simulation. */
import { MemoryVoicemail } from '../../runs/index.ts';
import { SIMULATED_DOMAIN } from './call-script.ts';
import type { VirtualClock } from './virtual-clock.ts';

/** A message at the start of a simulation. */
export interface SimulatedMessage {
  /** Of who left it. */
  readonly number: string;
  readonly heard: boolean;
}

/** Milliseconds of each message. */
const LENGTH_MS = 5000;

/** Parses a message in an author's words: `101`, `101 heard`; undefined for other words. */
export function readMessage(text: string): SimulatedMessage | undefined {
  const [, number, heard] = /^(\S{1,64})(\s+heard)?$/.exec(text.trim()) ?? [];
  return number === undefined ? undefined : { number, heard: heard !== undefined };
}

/** Mailboxes with these messages, the oldest first. */
export async function simulatedVoicemail(
  mailboxes: Readonly<Record<string, readonly SimulatedMessage[]>>,
  clock: VirtualClock,
): Promise<MemoryVoicemail> {
  const voicemail = new MemoryVoicemail(() => clock.now());
  for (const [mailbox, messages] of Object.entries(mailboxes))
    for (const { number, heard } of messages) {
      const message = { number, name: '', file: '/simulation/message', milliseconds: LENGTH_MS };
      const id = await voicemail.deposit(SIMULATED_DOMAIN, mailbox, message);
      if (heard) await voicemail.mark(SIMULATED_DOMAIN, mailbox, id, true);
    }
  return voicemail;
}
