/** An answered call at a phone of the load. */
import type { ServerTransaction } from '../../embedded/stack/index.ts';
import type { Sound } from '../media/sound.ts';
import type { DialogUser, SipAgent } from '../sip/agent.ts';
import type { Dialog } from '../sip/dialog.ts';
import { farEndOf } from '../sip/sdp.ts';

/** Answers the far end inside the dialog, and ends it. */
export class Leg implements DialogUser {
  /** The far end hung up. */
  readonly dropped: Promise<void>;
  /** The call is over, by whichever side. */
  readonly ended: Promise<void>;
  readonly #agent: SipAgent;
  readonly #dialog: Dialog;
  readonly #sound: Sound;
  readonly #contact: string;
  readonly #description: string;
  readonly #drop: () => void;
  readonly #finish: () => void;
  #isOver = false;

  /** @param description the session description that this side sent */
  constructor(agent: SipAgent, login: string, dialog: Dialog, sound: Sound, description: string) {
    this.#contact = agent.contactOf(login);
    this.#agent = agent;
    this.#dialog = dialog;
    this.#sound = sound;
    this.#description = description;
    const dropped = Promise.withResolvers<void>();
    this.dropped = dropped.promise;
    this.#drop = dropped.resolve;
    const ended = Promise.withResolvers<void>();
    this.ended = ended.promise;
    this.#finish = ended.resolve;
    agent.open(dialog, this);
  }

  /** A request of the far end. */
  request(transaction: ServerTransaction): void {
    const { request } = transaction;
    this.#dialog.refresh(request);
    if (request.method === 'BYE') {
      transaction.reply(200);
      this.#dropped();
    } else if (request.method === 'INVITE') this.#reinvited(transaction);
    else transaction.reply(200);
  }

  /** BYE. @returns why it failed; undefined when it was accepted, or the far end hung up first */
  hangUp(): Promise<string | undefined> {
    if (this.#isOver) return Promise.resolve(undefined);
    this.#isOver = true;
    this.#sound.close();
    return new Promise((resolve) => {
      const done = (why?: string): void => {
        this.#agent.forget(this.#dialog);
        this.#finish();
        resolve(why);
      };
      this.#agent.transact(this.#dialog.request('BYE'), {
        // 481: both hung up at once.
        final: ({ status, reason }) => done(status < 300 || status === 481 ? undefined : `BYE: ${status} ${reason}`),
        failed: (reason) => done(`BYE: ${reason}`),
      });
    });
  }

  #reinvited(transaction: ServerTransaction): void {
    const { request } = transaction;
    const far = farEndOf(request.body);
    if (request.body.length > 0 && far === undefined) {
      transaction.reply(488);
      return;
    }
    if (far !== undefined) this.#sound.connect(far);
    const headers = { Contact: this.#contact, 'Content-Type': 'application/sdp' };
    transaction.reply(200, { headers, body: this.#description });
  }

  #dropped(): void {
    this.#isOver = true;
    this.#sound.close();
    this.#agent.forget(this.#dialog);
    this.#drop();
    this.#finish();
  }
}
