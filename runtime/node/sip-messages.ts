/** What a node does with the SIP messages of its calls: keeps them for ladders, and sends them to a capture server. */
import type { Logger } from 'pino';
import type { CallFacts, CallIds } from '../callstore/index.ts';
import type { Config } from '../config/index.ts';
import { HepSender, Ladder } from '../ladder/index.ts';
import type { MessageTap } from '../signalling/index.ts';

export interface SipMessages {
  /** Undefined where none are kept. */
  readonly ladder: Ladder | undefined;
  /** Receives the messages; undefined where nobody wants them. */
  readonly tap: MessageTap | undefined;
  close(): void;
}

export interface SipMessagesNeeds {
  readonly config: Pick<Config, 'ladderBytes' | 'hep'>;
  readonly liveCalls: (id: string) => readonly CallFacts[];
  readonly callIds: Pick<CallIds, 'of'>;
  readonly log: Logger;
}

export function openSipMessages({ config, liveCalls, callIds, log }: SipMessagesNeeds): SipMessages {
  const { ladderBytes, hep } = config;
  const ladder = ladderBytes === 0 ? undefined : new Ladder({ limit: ladderBytes, liveCalls });
  const sender = hep && new HepSender({ ...hep, callOf: (callid) => callIds.of(callid), log });
  const tap: MessageTap = (frame, hostports) => {
    ladder?.keep(frame, hostports);
    sender?.send(frame, hostports);
  };
  return {
    ladder,
    tap: ladder || sender ? tap : undefined,
    close: () => {
      ladder?.close();
      sender?.close();
    },
  };
}
