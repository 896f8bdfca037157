/** Call detail records for applications. */
import type { SipMessage } from '../stack/index.ts';
import type { AppRegistry } from './app-registry.ts';
import { newId, timeOfDay } from './frame-fields.ts';

/** The side that a message came from. */
export type CdrSource = 'network' | 'application';

/** Why a call ended. */
export type CdrReason = 'normal-release' | 'call-rejected' | 'call-canceled' | 'ackbye' | 'session-expired';

/** Reports attempts, starts and stops of calls to applications with a `cdr:*` route. */
export class CdrSender {
  readonly #apps: AppRegistry;
  readonly #enabled: boolean;

  constructor(apps: AppRegistry, enabled: boolean) {
    this.#apps = apps;
    this.#enabled = enabled;
  }

  /** An INVITE outside of dialogs came or was sent. */
  attempt(source: CdrSource, invite: SipMessage): void {
    this.#send('cdr:attempt', source, undefined, invite);
  }

  /** A call was answered. */
  start(source: CdrSource, role: 'uac' | 'uas', answer: SipMessage): void {
    this.#send('cdr:start', source, role, answer);
  }

  /** A call ended, or was not answered. */
  stop(source: CdrSource, reason: CdrReason, message: SipMessage): void {
    this.#send('cdr:stop', source, reason, message);
  }

  #send(type: string, source: CdrSource, detail: string | undefined, message: SipMessage): void {
    if (!this.#enabled) return;
    const app = this.#apps.pick(type);
    if (app === undefined) return;
    const fields = `${newId()}|${type}|${source}|${timeOfDay()}${detail === undefined ? '' : `|${detail}`}`;
    app.send(fields, message.head(), message.body);
  }
}
